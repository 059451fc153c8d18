/** The criteria cases under `test/fixtures/criteria`, as their README describes them. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ReadCriterion } from '../../../../lanes/rules/criteria/index.ts';

const DIRECTORY = new URL('../../../fixtures/criteria/', import.meta.url);

export type Expectation = {
  criteria: ReadCriterion[];
  also_acceptable?: ReadCriterion[][];
  section: string | null;
  fallback_tasklist?: string[];
  placeholders?: string[];
  secondary?: { section: string; items: string[] }[];
  external?: string[];
  edit_of?: string;
  ids?: string[];
  removed?: string[];
  stale?: string[];
};

export type Case = { name: string; body: string; expect: Expectation };

export const cases: readonly Case[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith('.md'))
  .sort()
  .map((file) => {
    const name = file.slice(0, -'.md'.length);
    const answer: { expect: Expectation } = JSON.parse(
      readFileSync(new URL(`${name}.json`, DIRECTORY), 'utf8'),
    );
    return { name, body: readFileSync(new URL(file, DIRECTORY), 'utf8'), expect: answer.expect };
  });
