import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of minutes. Vitest goes by the size of a file; begun last, they would keep everybody waiting. */
const longest = [
  ...['torture/torture', 'flow/failures', 'sweep/reaper-points', 'box/box', 'bad-input/agents'],
  'work/process-tree',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return at === -1 ? longest.length : at;
    };
    return [...(await super.sort(files))].sort((a, b) => rank(a) - rank(b));
  }
}

/** Tests of processes, locks and file descriptors: each file in a process of its own. */
const apart = [
  'test/lanes/work/**/*.test.ts',
  'test/{flow,torture,scripts}/**/*.test.ts',
  'test/app/{box,child}/**/*.test.ts',
];

const common = { pool: 'forks', testTimeout: 120_000, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    globalSetup: 'test/support/build.ts',
    // Most tests wait for processes and for the disk: one more than a small machine's cores keeps it busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...common, name: 'apart', include: apart } },
      // The rest loads the same modules again and again: files share them, which takes a third of the time.
      {
        test: {
          ...{ ...common, name: 'together', isolate: false },
          ...{ include: ['test/**/*.test.ts'], exclude: apart },
        },
      },
    ],
  },
});
