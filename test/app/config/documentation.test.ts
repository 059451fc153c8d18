import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { environmentSchema } from '../../../app/config/environment.ts';
import { loadOperatorFile } from '../../../app/config/operator-file.ts';
import { readRepositoryFile } from '../../../app/config/repository-file.ts';
import { readServerConfig } from '../../../app/config.ts';
import { laneSchema, operatorFileSchema } from '../../../lanes/records/config.ts';

const text = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
const [operators = '', repositorys = ''] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(
  (match) => match[1] ?? '',
);
const root = mkdtempSync(join(tmpdir(), 'lanekeeper-docs-'));
afterAll(() => rmSync(root, { recursive: true }));

/** First and second cell of each row of the tables: the environment's and the operator's file's. */
const [tables = ''] = text.split("## The repository's file");
const rows = [...tables.matchAll(/^\| `([^`]+)` +\| (.*?) \|/gm)].map(
  (match) => [match[1] ?? '', match[2] ?? ''] as const,
);

it('the page names every variable that is read, and no other', () => {
  const named = rows.map(([name]) => name).filter((name) => /^[A-Z_]+$/.test(name));
  expect(named.toSorted()).toEqual(Object.keys(environmentSchema.shape).toSorted());
});

it('the defaults on the page are the defaults', () => {
  const config = readServerConfig({ LANES_DATA_DIR: root });
  const written = Object.fromEntries(rows.map(([name, value]) => [name, value.replaceAll('`', '')]));
  expect(written).toMatchObject({
    GITHUB_API_URL: config.apiUrl,
    GITHUB_SERVER_URL: config.serverUrl,
    HOST: config.host,
    PORT: String(config.port),
    LOG_LEVEL: config.logLevel,
  });
});

it('the page names every field of a lane, and its default', () => {
  const lane: Record<string, unknown> = laneSchema.parse({ agent: { kind: 'checks' } });
  const written = new Map(rows.map(([name, value]) => [name.split('.')[0] ?? '', value.replaceAll('`', '')]));
  for (const field of Object.keys(laneSchema.shape)) {
    expect(written.has(field), field).toBe(true);
    const value = lane[field];
    if (typeof value !== 'object' && value !== undefined)
      expect(written.get(field), field).toBe(String(value));
  }
  for (const field of Object.keys(operatorFileSchema.shape)) expect(written.has(field), field).toBe(true);
});

it('the files on the page are read as they stand', () => {
  const path = join(root, 'lanekeeper.yml');
  writeFileSync(path, operators);
  expect(loadOperatorFile(path, 'here').lanes).toHaveLength(1);
  expect(readRepositoryFile(repositorys)).toMatchObject({ ok: true });
});
