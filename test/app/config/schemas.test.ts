import { expect, it } from 'vitest';
import { z } from 'zod';
import { operatorFileSchema, repositoryFileSchema } from '../../../lanes/records/config.ts';

// `npx vitest run test/app/config/schemas.test.ts -u` writes them anew.
it.each([
  ['lanekeeper.schema.json', "Lanekeeper: the operator's file", operatorFileSchema],
  ['lanes.schema.json', "Lanekeeper: the repository's file", repositoryFileSchema],
])('the published schema %s is what the code reads', async (name, title, schema) => {
  const json = { title, ...z.toJSONSchema(schema, { io: 'input' }) };
  await expect(`${JSON.stringify(json, null, 2)}\n`).toMatchFileSnapshot(`../../../docs/schemas/${name}`);
});
