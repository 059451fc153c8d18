/**
 * Weighs evidence: what the host has looked at itself is `verified`, everything else is `asserted`, with the reason.
 * Nothing an agent names can make the host fetch an address or look outside the repository.
 */
import type { Check } from '../../records/config.ts';
import type { Evidence, WeighedEvidence } from '../../records/dispositions.ts';
import type { LookUpAnswer, LookUpQuery } from '../../records/host.ts';
import type { AgentDisposition } from '../../records/result.ts';
import type { WeighedVerdict } from '../../rules/dispositions.ts';
import { type ProofMap, readEvidenceUrl, touchedProtected } from '../../rules/proof.ts';
import { clip } from '../../rules/text.ts';
import { isInHistory, type ProofTree, readTreeFile } from './tree.ts';

/** What a check showed on the clean checkout. `how` says it for a person. */
export interface CheckOutcome {
  readonly passed: boolean;
  readonly how: string;
}

export interface EvidenceHost {
  readonly tree: ProofTree;
  /** From `changedPaths`. */
  readonly changed: readonly string[];
  readonly checks: Readonly<Record<string, Check>>;
  readonly map: ProofMap;
  /** The web address of the repository, for reading evidence addresses. */
  readonly repositoryUrl: string;
  /** Runs a check once per run, however often it is named. */
  readonly runCheck: (name: string) => Promise<CheckOutcome>;
  /** Asks the App. */
  readonly lookUp: (query: LookUpQuery) => Promise<LookUpAnswer>;
  readonly signal: AbortSignal;
}

/** The most look-ups and file readings of one run. An agent must not spend the installation's rate limit. */
const limits = { lookUps: 50, files: 200 };

/**
 * Weighs all verdicts of one run, in order. Criteria that the map does not know are left unweighed.
 * @throws LaneError `disk` or `git_failed`, or the signal's reason.
 */
export async function weighVerdicts(
  said: readonly AgentDisposition[],
  host: EvidenceHost,
): Promise<WeighedVerdict[]> {
  const scales = new Scales(host);
  const verdicts: WeighedVerdict[] = [];
  for (const one of said) {
    const evidence: WeighedEvidence[] = [];
    const items = host.map.has(one.criterion) ? one.evidence : [];
    for (const item of items) {
      host.signal.throwIfAborted();
      evidence.push(await scales.weigh(one.criterion, item));
    }
    verdicts.push({ said: one, evidence });
  }
  return verdicts;
}

type Standing = Omit<WeighedEvidence, 'evidence'>;

const verified = (how: string): Standing => ({ standing: 'verified', how });
const asserted = (how: string): Standing => ({ standing: 'asserted', how });

/** Remembers what one run has looked at, so that the same thing is looked at once. */
class Scales {
  readonly #host: EvidenceHost;
  readonly #seen = new Map<string, Standing>();
  #lookUps = 0;
  #files = 0;
  /** An App that did not answer once is not waited for again in this run. */
  #silent = false;

  constructor(host: EvidenceHost) {
    this.#host = host;
  }

  async weigh(criterion: string, evidence: Evidence): Promise<WeighedEvidence> {
    const key = JSON.stringify(evidence.kind === 'check' ? [criterion, evidence] : [evidence]);
    const standing = this.#seen.get(key) ?? (await this.#look(criterion, evidence));
    this.#seen.set(key, standing);
    return { evidence, standing: standing.standing, how: clip(standing.how, 1_000) };
  }

  async #look(criterion: string, evidence: Evidence): Promise<Standing> {
    switch (evidence.kind) {
      case 'check':
        return await this.#check(criterion, evidence.name);
      case 'file':
        return await this.#file(evidence.path, evidence.contains);
      case 'commit':
        return await this.#commit(evidence.sha.toLowerCase());
      case 'url':
        return await this.#url(evidence.url);
    }
  }

  async #check(criterion: string, name: string): Promise<Standing> {
    const { checks, map, changed, runCheck } = this.#host;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return asserted('the lane has no check of this name');
    if (!map.get(criterion)?.includes(name)) return asserted('nobody mapped this check to this criterion');
    const touched = touchedProtected(changed, check.protect);
    if (touched !== null) return asserted(`the patch touches ${touched}, which this check is protected by`);
    const outcome = await runCheck(name);
    return outcome.passed ? verified(outcome.how) : asserted(outcome.how);
  }

  async #file(path: string, contains: string | undefined): Promise<Standing> {
    this.#files += 1;
    if (this.#files > limits.files) return asserted(`more than ${limits.files} files were named`);
    const { tree } = this.#host;
    const reading = await readTreeFile(tree, path);
    if (reading.kind === 'none') return asserted(`${reading.why}, in ${tree.subject.name}`);
    if (contains === undefined) return verified(`the file is in ${tree.subject.name}`);
    const found = contains.trim() !== '' && reading.text.includes(contains.replaceAll('\r\n', '\n'));
    return found
      ? verified(`the text stands in the file, in ${tree.subject.name}`)
      : asserted(`the text does not stand in the file, in ${tree.subject.name}`);
  }

  async #commit(sha: string): Promise<Standing> {
    const { tree } = this.#host;
    if (await isInHistory(tree, sha))
      return verified(`the commit is in the history of ${tree.base.slice(0, 12)}`);
    return await this.#ask({ kind: 'commit', sha });
  }

  async #url(url: string): Promise<Standing> {
    const address = readEvidenceUrl(url, this.#host.repositoryUrl);
    if (!address.known) return asserted(address.why);
    return address.query.kind === 'commit'
      ? await this.#commit(address.query.sha)
      : await this.#ask(address.query);
  }

  async #ask(query: LookUpQuery): Promise<Standing> {
    if (this.#silent) return asserted('GitHub could not be asked');
    this.#lookUps += 1;
    if (this.#lookUps > limits.lookUps) return asserted(`more than ${limits.lookUps} look-ups were needed`);
    try {
      const { found, how } = await this.#host.lookUp(query);
      return found ? verified(how) : asserted(how);
    } catch {
      // Not being able to ask proves nothing; the run's own result must not be lost over it.
      this.#silent = true;
      return asserted('GitHub could not be asked');
    }
  }
}
