/**
 * Pages of a list with GitHub's Link header: by page number, and by cursor for deliveries.
 */
import type { Answer, Call } from './call.ts';
import type { World } from './world.ts';

export function pageSize(call: Call): number {
  const wanted = Number(call.query.get('per_page') ?? 30);
  return Math.min(100, Math.max(1, Number.isInteger(wanted) ? wanted : 30));
}

/** One page of the items; `wrap` puts the page into an object where the route answers with one. */
export function paged<T>(
  world: World,
  call: Call,
  items: T[],
  wrap: (page: T[]) => unknown = (page) => page,
): Answer {
  const size = pageSize(call);
  const page = Math.max(1, Number(call.query.get('page') ?? 1) || 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const links = [];
  if (page < last)
    links.push(link(world, call, { page: page + 1 }, 'next'), link(world, call, { page: last }, 'last'));
  if (page > 1)
    links.push(link(world, call, { page: 1 }, 'first'), link(world, call, { page: page - 1 }, 'prev'));
  const headers: Record<string, string> = links.length > 0 ? { link: links.join(', ') } : {};
  return { status: 200, headers, body: wrap(items.slice((page - 1) * size, page * size)) };
}

/** One link of a Link header: the call's own URL with some parameters changed. */
export function link(world: World, call: Call, change: Record<string, string | number>, rel: string): string {
  const query = new URLSearchParams(call.query);
  for (const [name, value] of Object.entries(change)) query.set(name, String(value));
  return `<${world.url}${call.path}?${query}>; rel="${rel}"`;
}
