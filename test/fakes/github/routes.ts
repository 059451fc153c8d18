/**
 * Matching of paths to handlers: `:name` takes one segment, `:name*` the rest of the path.
 */
import type { Handler, Route } from './call.ts';

interface Compiled {
  method: string;
  shape: RegExp;
  names: string[];
  handle: Handler;
}

export interface Match {
  handle: Handler;
  params: Record<string, string>;
}

/** Builds a matcher over the routes; the first that fits wins. */
export function matcher(routes: Route[]): (method: string, path: string) => Match | undefined {
  const compiled = routes.map(compile);
  return (method, path) => {
    for (const route of compiled) {
      if (route.method !== method) continue;
      const found = route.shape.exec(path);
      if (found) return { handle: route.handle, params: paramsOf(route.names, found) };
    }
    return undefined;
  };
}

function compile(route: Route): Compiled {
  const names: string[] = [];
  const source = route.pattern.replace(
    /:([a-z]+)(\*?)|([.+?^${}()|[\]\\])/gi,
    (_all, name, rest, special) => {
      if (special) return `\\${special}`;
      names.push(name);
      return rest ? '(.+)' : '([^/]+)';
    },
  );
  return { method: route.method, shape: new RegExp(`^${source}/?$`), names, handle: route.handle };
}

function paramsOf(names: string[], found: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, decoded(found[index + 1] ?? '')]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
