/** Small things done to text that somebody else wrote, before it goes on. */

/** The start of a text, marked where it was cut. */
export function clip(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 1)}…`;
}

/** A text as one line: line ends and what does not print become spaces; marked where it was cut. */
export function oneLine(text: string, characters: number): string {
  // What is cut away need not be looked at: a text may be of any length.
  const start = text.slice(0, characters * 4);
  return clip(start.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim(), characters);
}

/** The end of a text, marked where it was cut. */
export function clipStart(text: string, characters: number): string {
  return text.length <= characters ? text : `…${text.slice(1 - characters)}`;
}

/** A text without the secrets. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '[hidden]'), text);
}

/** The same value with every string in it changed; its keys stay. The value's depth is bounded by its schema. */
export function mapStrings<T>(value: T, change: (text: string) => string): T;
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]));
}
