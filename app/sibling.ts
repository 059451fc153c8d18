/** Starting a module next to the caller in a thread or process of its own, from source and from a build alike. */

export type Sibling = {
  url: URL;
  /** Node's arguments: in a checkout the TypeScript loader, in a build none. */
  execArgv: string[];
};

/**
 * Where the module `name` (without its ending) beside `metaUrl` lies and how Node runs it. The caller's own ending says whether
 * this is TypeScript source or a build.
 */
export function sibling(metaUrl: string, name: string): Sibling {
  const fromSource = metaUrl.endsWith('.ts');
  const url = new URL(`./${name}${fromSource ? '.ts' : '.js'}`, metaUrl);
  return { url, execArgv: fromSource ? ['--import', typescriptLoader()] : [] };
}

/** `--import tsx` does nothing inside a worker thread; tsx's own registering function works in threads and processes. */
function typescriptLoader(): string {
  const source = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
