/** The Liquid engine for comments. Strict: a template that names what does not exist fails in a test, not on GitHub. */
import { fileURLToPath } from 'node:url';
import { Liquid } from 'liquidjs';
import { packageFile } from '../../package-root.ts';

const engine = new Liquid({
  root: fileURLToPath(packageFile('templates/comments')),
  extname: '.md',
  relativeReference: false,
  strictVariables: true,
  strictFilters: true,
  ownPropertyOnly: true,
  cache: true,
});

/** `{{ 2 | count: 'criterion', 'criteria' }}` -> `2 criteria`. */
engine.registerFilter('count', (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`);

/** `{{ 'exit code 3' | sentence }}` -> `Exit code 3.` */
engine.registerFilter('sentence', (text: string) => {
  const whole = /[.!?…]$/.test(text) ? text : `${text}.`;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
});

/** Renders `templates/comments/<name>.md`. Blank lines are tidied: templates may be laid out to be read. */
export function renderTemplate(name: string, view: object): string {
  const text: string = engine.renderFileSync(name, view);
  return `${text
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}
