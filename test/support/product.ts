/**
 * The product as tests and the demo start it, many times: laid out as the package is, with everything that a process loads
 * in a few files. From source each process would compile all that it loads, and from a build open a thousand files: that
 * takes four times and twice as long to start as this.
 */
import { cp, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What is started as a process or a thread of its own. */
const entries = ['app/cli/main.ts', 'app/worker.ts', 'app/github/body/worker.ts'];
/** For bundles: packages of CommonJS ask for Node's modules by `require`, which an ES module does not have. */
export const withRequire = `import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);`;

/** Makes it in `folder`, with more programs if need be, and answers with the path of its command. */
export async function makeProduct(folder: string, programs: readonly string[] = []): Promise<string> {
  const dist = join(folder, 'dist');
  const beside = ['package.json', 'app.yml', 'templates'];
  await Promise.all(beside.map((name) => cp(join(root, name), join(folder, name), { recursive: true })));
  await build({
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20' },
    ...{
      absWorkingDir: root,
      entryPoints: [...entries, ...programs],
      outbase: root,
      outdir: dist,
      logLevel: 'error',
    },
    banner: { js: withRequire },
    plugins: [placedIn(dist)],
  });
  return join(dist, 'app/cli/main.js');
}

/** A module goes on finding what lies beside it: it is told the place that it would have in a build. */
function placedIn(dist: string): Plugin {
  return {
    name: 'lanekeeper-places',
    setup({ onLoad }) {
      onLoad({ filter: /\/(?:app|lanes)\/.*\.ts$/ }, async ({ path }) => {
        const place = join(dist, relative(root, path).replace(/\.ts$/, '.js'));
        const code = await readFile(path, 'utf8');
        const url = JSON.stringify(pathToFileURL(place).href);
        return { contents: code.replaceAll('import.meta.url', url), loader: 'ts' };
      });
    },
  };
}
