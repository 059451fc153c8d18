#!/usr/bin/env node
/**
 * The demo's agent: no model, but a real program that keeps the agent contract. It reads its task, changes the checkout
 * for the criteria that it understands, and says what it did. About one criterion it is too sure of itself: that is the
 * point of the third issue.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const { LANES_TASK_FILE, LANES_RESULT_FILE } = process.env;
const task = JSON.parse(readFileSync(LANES_TASK_FILE, 'utf8'));

function replace(path, from, to) {
  const text = readFileSync(path, 'utf8');
  if (text.includes(from)) writeFileSync(path, text.replace(from, to));
}

const skills = [
  {
    about: /decimals|empty cart/i,
    check: 'total',
    path: 'src/price.js',
    work() {
      replace(this.path, 'return String(', 'return (');
      replace(this.path, ', 0));', ', 0)).toFixed(2);');
    },
  },
  {
    about: /blank lines/i,
    check: 'blank-lines',
    path: 'src/import.js',
    work() {
      replace(this.path, "split('\\n').map", "split('\\n').filter((line) => line.trim() !== '').map");
    },
  },
  {
    about: /later one wins/i,
    check: 'duplicates',
    path: 'src/import.js',
    work() {
      replace(this.path, 'return text', 'const widgets = text');
      replace(
        this.path,
        '  });\n}',
        '  });\n  return [...new Map(widgets.map((w) => [w.name, w])).values()];\n}',
      );
    },
  },
  // Claims it, and does nothing for it.
  { about: /only in case/i, check: 'names', path: 'src/import.js', work() {} },
];

const dispositions = task.criteria.map(({ id, text }) => {
  const skill = skills.find(({ about }) => about.test(text));
  if (skill === undefined)
    return { criterion: id, disposition: 'cannot_tell', reason: 'I have no skill for this.' };
  skill.work();
  const evidence = [
    { kind: 'check', name: skill.check },
    { kind: 'file', path: skill.path },
  ];
  return { criterion: id, disposition: 'met', reason: `Changed ${skill.path}.`, evidence };
});

const count = dispositions.length === 1 ? '1 criterion' : `${dispositions.length} criteria`;
const summary = `Looked at ${count} and worked in the files that they are about.`;
writeFileSync(LANES_RESULT_FILE, JSON.stringify({ outcome: 'done', summary, dispositions }));
