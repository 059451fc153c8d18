import { createHmac } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeBlock } from '../../../../app/broker/note/block.ts';
import { noteKey, readNote, renderNote } from '../../../../app/broker/note/index.ts';
import { noteSchemaText } from '../../../../app/broker/note/schema.ts';
import { isLaneError } from '../../../../lanes/errors.ts';
import { type Note, noteSchema } from '../../../../lanes/records/notes.ts';
import { complete, key, newPrivateKey, otherKey, parked, resumed } from './support.ts';

const options = { key, secrets: [] };
const body = renderNote(parked('criteria_open'), options);

function signed(payload: Uint8Array): string {
  const text = Buffer.from(payload).toString('base64url');
  const signature = createHmac('sha256', key).update(`lanekeeper:note v1 ${text}`).digest('base64url');
  return `<!-- lanekeeper:note v1 ${text} ${signature} -->`;
}

describe('the machine block', () => {
  it.each([parked('needs_answer'), resumed(), complete(), complete('not_planned')])(
    'reads back what was written ($state)',
    (input) => {
      const reading = readNote(renderNote(input, options), [key]);
      if (!reading.ok) throw new Error(reading.why);
      expect(reading.note).toMatchObject({
        v: 1,
        app: input.app,
        issue: input.task.issue,
        namespace: 'lane:triage',
        task: input.task.id,
        run: 2,
        fence: 4,
        sequence: 1,
        state: input.state,
        patch: input.task.patch,
        cut: 0,
      });
      expect(reading.note.criteria.map(({ id, revision }) => [id, revision])).toEqual(
        input.task.criteria.map(({ id, revision }) => [id, revision]),
      );
      expect(reading.note.dispositions.map(({ criterion, kind }) => [criterion, kind])).toEqual([
        ['c3f9', 'met'],
        ['k2w7', 'met'],
        ['p8d4', 'waived'],
      ]);
    },
  );

  it('has a reason exactly when parked, a state reason exactly when complete', () => {
    const note = (input: Parameters<typeof renderNote>[0]): Note | undefined => {
      const reading = readNote(renderNote(input, options), [key]);
      return reading.ok ? reading.note : undefined;
    };
    expect(note(parked('disk'))).toMatchObject({ reason: 'disk' });
    expect(note(parked('disk'))).not.toHaveProperty('stateReason');
    expect(note(complete('not_planned'))).toMatchObject({ stateReason: 'not_planned' });
    expect(note(resumed())).not.toHaveProperty('reason');
    expect(note(resumed())).toMatchObject({ actor: { login: 'alice' } });
  });

  it('also reads with Windows line ends and trailing blanks, as the web editor stores them', () => {
    expect(readNote(body.replaceAll('\n', ' \r\n'), [key]).ok).toBe(true);
  });

  it('any changed character of the block is refused', () => {
    const line = body.slice(0, body.indexOf('\n'));
    for (let at = 0; at < line.length; at += 1) {
      const other = line[at] === 'A' ? 'B' : 'A';
      const reading = readNote(`${line.slice(0, at)}${other}${line.slice(at + 1)}\n`, [key]);
      expect(reading.ok, `changed at ${at}`).toBe(false);
    }
  });

  it('a block cut off anywhere is refused', () => {
    const line = body.slice(0, body.indexOf('\n'));
    for (let end = 0; end < line.length; end += 1) {
      expect(readNote(line.slice(0, end), [key]).ok, `cut at ${end}`).toBe(false);
    }
  });

  it('says why a text is not a note', () => {
    expect(readNote('', [key])).toEqual({ ok: false, why: 'no_block' });
    expect(readNote(`\n${body}`, [key])).toEqual({ ok: false, why: 'no_block' });
    expect(readNote(`> ${body}`, [key])).toEqual({ ok: false, why: 'no_block' });
    expect(readNote(body.replace('note v1', 'note v2'), [key])).toEqual({
      ok: false,
      why: 'unknown_version',
    });
    expect(readNote(body.replace(' -->', ''), [key])).toEqual({ ok: false, why: 'damaged' });
    expect(readNote(body, [otherKey])).toEqual({ ok: false, why: 'bad_signature' });
    expect(readNote(body, [])).toEqual({ ok: false, why: 'bad_signature' });
    expect(readNote(body.padEnd(70_000), [key])).toEqual({ ok: false, why: 'too_long' });
  });

  it('a note signed with an older key that is listed still counts', () => {
    const old = renderNote(parked('held'), { key: otherKey, secrets: [] });
    expect(readNote(old, [key]).ok).toBe(false);
    expect(readNote(old, [key, otherKey]).ok).toBe(true);
  });

  it('a genuine note copied to another issue, repository or App is refused', () => {
    const here = { appId: 99, repositoryId: 22, number: 12 };
    expect(readNote(body, [key], here).ok).toBe(true);
    for (const other of [{ number: 13 }, { repositoryId: 23 }, { appId: 98 }]) {
      expect(readNote(body, [key], { ...here, ...other })).toEqual({ ok: false, why: 'other_issue' });
    }
  });

  it('content that is signed but is no note is refused: not deflated, not JSON, another shape, a bomb', () => {
    const reading = readNote(body, [key]);
    if (!reading.ok) throw new Error(reading.why);
    for (const payload of [
      Buffer.from('not deflated'),
      deflateRawSync('not JSON'),
      deflateRawSync('{}'),
      deflateRawSync(JSON.stringify({ ...reading.note, extra: 1 })),
      deflateRawSync(JSON.stringify({ ...reading.note, reason: undefined })),
      // A bomb: it would parse, if it were inflated.
      deflateRawSync(JSON.stringify(reading.note) + ' '.repeat(30_000_000), { level: 9 }),
    ]) {
      expect(readNote(signed(payload), [key])).toEqual({ ok: false, why: 'invalid_content' });
    }
    expect(readNote(encodeBlock(reading.note, key, 10_000) ?? '', [key]).ok).toBe(true);
  });

  it('is described by the published JSON Schema', async () => {
    await expect(noteSchemaText()).toMatchFileSnapshot('../../../../docs/schemas/note.v1.json');
    expect(() => noteSchema.parse({})).toThrow();
  });
});

describe('the key of notes', () => {
  it('is derived from the private key alike for every form of its PEM, and differs between keys', () => {
    const pem = newPrivateKey();
    const first = noteKey({ privateKeyPem: pem });
    expect(first).toHaveLength(32);
    expect(noteKey({ privateKeyPem: pem.replaceAll('\n', '\r\n') })).toEqual(first);
    expect(noteKey({ privateKeyPem: pem, explicit: '' })).toEqual(first);
    expect(noteKey({ privateKeyPem: newPrivateKey() })).not.toEqual(first);
  });

  it('is the explicit one where that is set', () => {
    const explicit = 'sixteen letters!';
    expect(noteKey({ explicit, privateKeyPem: 'not looked at' })).toEqual(new TextEncoder().encode(explicit));
  });

  it('is refused if it is short or no key, without quoting it', () => {
    for (const source of [{ explicit: 'short-one', privateKeyPem: '' }, { privateKeyPem: 'no PEM at all' }]) {
      try {
        noteKey(source);
        expect.unreachable();
      } catch (error) {
        expect(isLaneError(error, 'invalid_config')).toBe(true);
        expect(String(error)).not.toMatch(/short-one|no PEM/);
      }
    }
  });
});
