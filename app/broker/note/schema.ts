/** The published JSON Schema of the machine block, for those who read notes with other tools. */
import { z } from 'zod';
import { noteSchema } from '../../../lanes/index.ts';

/** The text of `docs/schemas/note.v1.json`. */
export function noteSchemaText(): string {
  const schema = z.toJSONSchema(noteSchema, { io: 'input' });
  const titled = { ...schema, title: 'Lanekeeper agent note, machine block, version 1' };
  return `${JSON.stringify(titled, null, 2)}\n`;
}
