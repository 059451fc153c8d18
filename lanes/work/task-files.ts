/**
 * Writes what a run's agent is given: the task as JSON for a program, and the same as Markdown for a model. Text that
 * anybody on GitHub may have written stands between markers which nobody could guess, so that it cannot pose as ours.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Liquid } from 'liquidjs';
import { LaneError } from '../errors.ts';
import type { Lane } from '../records/config.ts';
import type { RunInput } from '../records/runs.ts';
import type { EarlierPatch, TaskFile } from '../records/task-file.ts';
import type { Task } from '../records/tasks.ts';
import { mapChecks } from '../rules/proof.ts';

/** The files of one run, in its io folder. */
export interface TaskFiles {
  readonly task: string;
  readonly prompt: string;
  readonly result: string;
}

export function taskFilePaths(ioDir: string): TaskFiles {
  return {
    task: join(ioDir, 'task.json'),
    prompt: join(ioDir, 'prompt.md'),
    result: join(ioDir, 'result.json'),
  };
}

/** Puts together what a run's agent is told. */
export function makeTaskFile(input: {
  readonly task: Task;
  readonly run: number;
  readonly lane: Lane;
  readonly input: Omit<RunInput, 'clone'>;
  readonly base: string;
  readonly branch: string;
  readonly resultFile: string;
  readonly earlierPatch: EarlierPatch | null;
}): TaskFile {
  const { task, lane, input: given } = input;
  const proofs = mapChecks(given.criteria, lane.checks, given.proves);
  return {
    v: 1,
    task: task.id,
    run: input.run,
    lane: lane.name,
    writes: lane.writes,
    base: input.base,
    branch: input.branch,
    issue: {
      repository: given.issue.repository,
      number: given.issue.number,
      url: given.url,
      title: given.title,
      body: given.body,
      author: given.author,
      labels: given.labels,
      comments: given.comments,
      stripped: given.stripped,
    },
    ...(given.instructions === undefined ? {} : { instructions: given.instructions }),
    criteria: given.criteria.map((criterion) => {
      const known = Object.hasOwn(task.dispositions, criterion.id);
      const { kind, reason, by } = (known ? task.dispositions[criterion.id] : undefined) ?? {};
      const disposition = kind && by ? { kind, by, ...(reason === undefined ? {} : { reason }) } : undefined;
      const checks = [...(proofs.get(criterion.id) ?? [])];
      return { ...criterion, checks, ...(disposition === undefined ? {} : { disposition }) };
    }),
    checks: Object.entries(lane.checks).map(([name, check]) => ({
      name,
      run: check.run,
      proves: given.criteria.flatMap(({ id }) => (proofs.get(id)?.includes(name) ? [id] : [])),
      protect: check.protect,
    })),
    answers: task.answers,
    earlierRuns: task.history,
    ...(input.earlierPatch === null ? {} : { earlierPatch: input.earlierPatch }),
    resultFile: input.resultFile,
  };
}

/**
 * Writes both files, and makes the agent's home and temporary folder beside them.
 * @param fence an unguessable word for the markers around untrusted text
 * @param template the Liquid text of `templates/prompts/task.md`
 * @throws LaneError `disk`.
 */
export async function writeTaskFiles(
  ioDir: string,
  file: TaskFile,
  template: string,
  fence: string,
): Promise<TaskFiles> {
  const paths = taskFilePaths(ioDir);
  const prompt = renderPrompt(template, file, fence);
  try {
    await makeProgramFolders(ioDir);
    await writeFile(paths.task, `${JSON.stringify(file, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    await writeFile(paths.prompt, prompt, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new LaneError('disk', "the agent's task files could not be written", { cause: error });
  }
  return paths;
}

/** The home and the temporary folder that a program's environment names. */
export async function makeProgramFolders(ioDir: string): Promise<void> {
  for (const folder of ['home', 'tmp']) await mkdir(join(ioDir, folder), { recursive: true, mode: 0o700 });
}

const liquid = new Liquid({ strictVariables: true, strictFilters: true, ownPropertyOnly: true });

/** The prompt for a model. Optional parts are null rather than missing: a missing one is a mistake in the template. */
export function renderPrompt(template: string, file: TaskFile, fence: string): string {
  return liquid.parseAndRenderSync(template, {
    fence,
    file: {
      ...file,
      instructions: file.instructions ?? null,
      earlierPatch: file.earlierPatch ? { file: null, ...file.earlierPatch } : null,
      criteria: file.criteria.map((criterion) => ({
        ...criterion,
        label: criterion.label ?? null,
        detail: criterion.detail ?? [],
        disposition: criterion.disposition ? { reason: null, ...criterion.disposition } : null,
      })),
    },
  });
}
