import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The tests that run side by side start processes, and then wait for most of their time.
    maxConcurrency: 8,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
