/**
 * Secrets taken out of text before it is encoded or shown. Forms that are public knowledge are found by their shape,
 * our own secrets by their exact words. Every pattern is bounded or cannot backtrack, so the whole is linear.
 */
import { stripControls } from './controls.ts';

const mask = '[redacted]';
/** Shorter words would take ordinary text away with them. */
const minSecretChars = 6;
const minSecretLineChars = 16;

/** Token shapes, masked whole. */
const shapes: readonly RegExp[] = [
  // GitHub: installation, personal, OAuth, user and refresh tokens, the short and the long form; fine-grained ones.
  /gh[psour]_[A-Za-z0-9._-]{16,}/g,
  /github_pat_[A-Za-z0-9_]{16,}/g,
  // JSON web tokens, such as the App's own.
  /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  // AWS, Google, Slack, GitLab, npm, PyPI, Stripe, Hugging Face, SendGrid, and model providers.
  /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/g,
  /AIza[A-Za-z0-9_-]{30,}/g,
  /ya29\.[A-Za-z0-9_-]{20,}/g,
  /xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}/g,
  /gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}/g,
  /npm_[A-Za-z0-9]{30,}/g,
  /pypi-[A-Za-z0-9_-]{30,}/g,
  /[srw]h?k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{16,}/g,
  /hf_[A-Za-z0-9]{30,}/g,
  /SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/g,
];

/** Places where a secret stands after a name that stays readable. */
const places: readonly RegExp[] = [
  /(authorization["']?[ \t]{0,5}[:=][ \t]{0,5}["']?(?:(?:basic|bearer|token|digest|negotiate)[ \t]{1,5})?)[^\s"',;]+/gi,
  /((?<![A-Za-z0-9])bearer[ \t]{1,5})[A-Za-z0-9._~+/=-]{16,}/gi,
  // As in a dump of an environment, or quoted in JSON or YAML. Prose ("the next token: a comma") stays.
  /((?:SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE_KEY|API_?KEY|ACCESS_KEY)[A-Z0-9_]{0,40}["']?[ \t]{0,3}[=:][ \t]{0,3}["']?)[^\s"',;]{6,}/g,
  /((?:secret|token|passw(?:or)?d|private_?key|api_?key|access_?key|accountkey)[a-z0-9_]{0,40}["']?[ \t]{0,3}[=:][ \t]{0,3}["'])[^\s"']{6,}/gi,
  /(AccountKey=)[A-Za-z0-9+/=]{16,}/g,
];
/** User and password in an address. */
const userInfo = /(:\/\/)(?:[^\s/@:]{0,256}:[^\s/@]{1,1024}|[^\s/@:]{20,1024})@/g;

/**
 * `text` without secrets: GitHub's tokens, JSON web tokens, private keys, authorization headers, passwords in addresses,
 * common cloud keys, and `secrets` (exact words of ours; of those with several lines, each line too). Invisible
 * characters go first, since they could split a token.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = maskHeadless(maskPrivateKeys(maskExact(stripControls(text), secrets)));
  for (const shape of shapes) clean = clean.replace(shape, mask);
  clean = clean.replace(userInfo, `$1${mask}@`);
  for (const place of places) clean = clean.replace(place, `$1${mask}`);
  return clean;
}

/** `redact` on every string of a record, keys left alone. */
export function redactAll<T>(value: T, secrets: readonly string[]): T {
  return mapStrings(value, (text) => redact(text, secrets)) as T;
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapStrings(one, change)]));
}

function maskExact(text: string, secrets: readonly string[]): string {
  const words = new Set<string>();
  for (const secret of secrets) {
    const whole = secret.trim();
    if (whole.length >= minSecretChars) words.add(whole);
    for (const line of whole.split(/\r?\n|\\n/)) {
      const word = line.trim();
      if (word !== whole && word.length >= minSecretLineChars && !word.startsWith('-----')) words.add(word);
    }
  }
  // Longest first: a secret that contains another goes whole.
  const ordered = [...words].sort((a, b) => b.length - a.length);
  return ordered.reduce((clean, word) => clean.replaceAll(word, mask), text);
}

/** PEM private keys; one that was cut off is masked to the end of the text. */
function maskPrivateKeys(text: string): string {
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  const end = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  let kept = '';
  let from = 0;
  for (;;) {
    begin.lastIndex = from;
    const start = begin.exec(text);
    if (start === null) return kept + text.slice(from);
    kept += text.slice(from, start.index) + mask;
    end.lastIndex = begin.lastIndex;
    if (end.exec(text) === null) return kept;
    from = end.lastIndex;
  }
}

const endOfKey = /^.{0,1000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const keyLine = /^[ \t>]{0,20}[A-Za-z0-9+/=]{1,100}[ \t]{0,20}$/;

/** The end of a PEM private key whose beginning was cut off, as in the last lines of an output. */
function maskHeadless(text: string): string {
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const rest = line.replace(endOfKey, mask);
    if (rest !== line) while (keyLine.test(kept.at(-1) ?? ' ')) kept.pop();
    kept.push(rest);
  }
  return kept.join('\n');
}
