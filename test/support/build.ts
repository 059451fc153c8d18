/**
 * Makes the product once before the tests: its processes start from there. `dist/` is made as well, as it ships: a test
 * shows that it starts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { makeProduct } from './product.ts';
import { programs } from './programs.ts';

export default async function build(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-product-'));
  const tsc = execa('tsc', ['-p', 'tsconfig.build.json'], { preferLocal: true, stdio: ['ignore', 2, 2] });
  const sources = programs.map((path) => `${path}.ts`);
  const [command] = await Promise.all([makeProduct(folder, sources), tsc]);
  // The processes that tests run in get it from here.
  process.env.LANEKEEPER_COMMAND = command;
  process.env.LANEKEEPER_PROGRAMS = join(folder, 'dist');
  return () => rm(folder, { recursive: true, force: true });
}
