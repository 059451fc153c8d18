/**
 * The import rules of ARCHITECTURE.md, checked over the whole graph: what a file reaches directly, and through others.
 * `node scripts/import-rules.mjs [root]` prints each breach with its way and ends with 1 if there is one. Imports of
 * types count too: a room that needs another's types knows that room.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

const computed = 'computed import of';
const outside = /^(?:node:|ioredis|bullmq|probot|@octokit\/)/;

/** `from` may not reach `to`: `direct` looks at a file's own imports, `any` at everything that it pulls in. */
const rules = [
  { from: /^lanes\//, to: /^(?:app|test|scripts)\//, through: 'any', why: 'the engine knows no shell' },
  {
    from: /^lanes\/(?:records|rules)\/|^lanes\/(?:errors|namespaces)\.ts$/,
    to: outside,
    through: 'any',
    why: 'records and rules import no Node module, no Redis, no Probot',
  },
  {
    from: /^lanes\/records\/|^lanes\/(?:errors|namespaces)\.ts$/,
    to: /^lanes\/(?!records\/|errors\.ts$|namespaces\.ts$)/,
    through: 'any',
    why: 'errors, namespaces and records are the lowest layer',
  },
  {
    from: /^lanes\/rules\//,
    to: /^lanes\/(?!records\/|rules\/|errors\.ts$|namespaces\.ts$)/,
    through: 'any',
    why: 'rules rest on errors, namespaces and records only',
  },
  ...['store', 'queue', 'work'].map((room) => ({
    from: new RegExp(`^lanes/${room}/`),
    to: new RegExp(`^lanes/(?!${room}/|records/|rules/|errors\\.ts$|namespaces\\.ts$)`),
    through: 'any',
    why: 'store, queue and work do not import each other; a composition root wires them',
  })),
  {
    from: /^app\/(?!github\/body\/(?:worker|messages)\.ts$)/,
    to: /^lanes\/(?!index\.ts$)/,
    through: 'direct',
    why: 'the shell knows the engine through lanes/index.ts alone',
  },
  {
    from: /^app\/github\/body\/(?:worker|messages)\.ts$/,
    to: /^lanes\/(?!records\/|rules\/|errors\.ts$|namespaces\.ts$)/,
    through: 'any',
    why: 'the thread that reads bodies loads the pure rules and nothing else',
  },
  {
    from: /^app\/(?:worker|worker-elsewhere|box|mcp)\.ts$/,
    to: /^app\/(?:github|broker)\//,
    through: 'any',
    why: 'a worker reaches neither app/github nor app/broker: it holds no GitHub credential',
  },
  { from: /^app\//, to: /^(?:test|scripts)\//, through: 'any', why: 'what ships does not import tests' },
  {
    from: /^(?:app|lanes)\//,
    to: new RegExp(`^${computed} `),
    through: 'direct',
    why: 'the import rules cannot follow a computed import',
  },
];

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const graph = readGraph(root);
const breaches = rules.flatMap((rule) => [...graph.keys()].flatMap((file) => breachesOf(rule, file)));
for (const { way, why } of breaches) console.error(`${way.join(' -> ')}: ${why}`);
if (breaches.length > 0) process.exitCode = 1;

/** File (or module name) -> what it imports: files by their path from the root, modules by their name. */
function readGraph(base) {
  const files = ['app', 'lanes', 'test', 'scripts'].flatMap((room) => sourcesUnder(join(base, room)));
  return new Map(files.map((file) => [toName(base, file), importsOf(base, file)]));
}

function sourcesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|mts|mjs|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes(`${sep}fixtures${sep}`));
}

function importsOf(base, file) {
  const text = readFileSync(file, 'utf8');
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const written = [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) =>
      one.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map((one) =>
      literal(text.slice(one.moduleRequest.start, one.moduleRequest.end)),
    ),
    ...importTypes(text),
  ];
  return [...new Set(written.map((source) => resolveImport(base, file, source)))];
}

/** `import('…')` in the place of a type is no import for the parser; what it names is known all the same. */
function importTypes(text) {
  return [...text.matchAll(/\bimport\(\s*(['"])([^'"\n]+)\1/g)].map((match) => match[2]);
}

/** What a dynamic import names. A computed one cannot be followed: it is a breach wherever rules hold. */
function literal(source) {
  return /^(['"`])([^'"`$]+)\1$/.exec(source)?.[2] ?? `${computed} ${source}`;
}

function resolveImport(base, file, source) {
  if (source.startsWith(computed)) return source;
  if (source.startsWith('.')) return toName(base, resolve(file, '..', source));
  return isBuiltin(source) && !source.startsWith('node:') ? `node:${source}` : source;
}

function toName(base, file) {
  return relative(base, file).split(sep).join('/');
}

/** Every shortest way from `file` to something that the rule forbids. */
function breachesOf(rule, file) {
  if (!rule.from.test(file)) return [];
  const found = [];
  const seen = new Set([file]);
  const ways = [[file]];
  for (const way of ways) {
    for (const next of graph.get(way.at(-1)) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (rule.to.test(next)) found.push({ way: [...way, next], why: rule.why });
      else if (rule.through === 'any') ways.push([...way, next]);
    }
  }
  return found;
}
