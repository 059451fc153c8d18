/** The programs as plain JavaScript in one file each: they are started thousands of times, and TypeScript is not free. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { withRequire } from '../support/product.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

export interface Programs {
  readonly supervisor: string;
  readonly reaper: string;
  readonly agent: string;
}

/** Bundles into `folder`. */
export async function bundlePrograms(folder: string): Promise<Programs> {
  const entry = (name: string) => join(here, 'programs', `${name}.ts`);
  await build({
    ...{ entryPoints: [entry('supervisor'), entry('reaper')], outdir: folder, logLevel: 'error' },
    ...{ bundle: true, minify: true, platform: 'node', format: 'esm', target: 'node20' },
    ...{ outExtension: { '.js': '.mjs' }, banner: { js: withRequire } },
  });
  const made = (name: string) => join(folder, `${name}.mjs`);
  return {
    supervisor: made('supervisor'),
    reaper: made('reaper'),
    agent: join(here, 'programs', 'agent.sh'),
  };
}
