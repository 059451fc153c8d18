/**
 * Hearing refusals: every verb of an engine is watched once, from outside, so that no verb can forget to tell. What is
 * told is who, what and where; whoever asked still gets the error.
 */
import { LaneError } from './errors.ts';
import { type Caller, githubNamespace, intakeNamespace, type Namespace } from './namespaces.ts';
import { type RefusalEvent, refusalCodeSchema } from './records/ledger.ts';

/** Hears of a refused verb. It must not throw. */
export type HearRefusal = (refusal: RefusalEvent) => void;

/** What any verb looks like from outside. */
type Verb = (caller: Caller, ...rest: never[]) => Promise<unknown>;

/** Groups of verbs that lie in one namespace, which their arguments do not name. */
const homes = new Map<string, Namespace>([
  ['loose', githubNamespace],
  ['intents', githubNamespace],
  ['drainer', githubNamespace],
  ['issues', intakeNamespace],
  ['deliveries', intakeNamespace],
  ['refusals', intakeNamespace],
]);

/** Writing a refusal down may be refused itself: whoever writes sees that, and telling it here would not end. */
const unheard: ReadonlySet<string> = new Set(['refusals.record']);

/** The same verbs, and groups of them, with `hear` told of each refusal. */
export function watched<T extends object>(verbs: T, hear: HearRefusal | undefined): T {
  if (hear === undefined) return verbs;
  const entries = Object.entries(verbs).map(([name, one]) => [name, watchedOne(name, one, hear)]);
  return Object.fromEntries(entries) as T;
}

function watchedOne(name: string, one: Verb | Record<string, Verb>, hear: HearRefusal): unknown {
  if (typeof one === 'function') return watchedVerb(name, one, undefined, hear);
  const group = Object.entries(one).map(([inner, verb]) => {
    const path = `${name}.${inner}`;
    return [inner, unheard.has(path) ? verb : watchedVerb(path, verb, homes.get(name), hear)];
  });
  return Object.fromEntries(group);
}

function watchedVerb(name: string, verb: Verb, home: Namespace | undefined, hear: HearRefusal): Verb {
  return async (caller, ...rest) => {
    try {
      return await verb(caller, ...rest);
    } catch (error) {
      const refusal = refusalOf(error, caller.identity, name, home ?? namespaceIn(rest[0]));
      if (refusal !== null) hear(refusal);
      throw error;
    }
  };
}

/** A verb's first argument after the caller is a namespace, or a lease or an admission, which have one. */
function namespaceIn(argument: unknown): string {
  const named =
    typeof argument === 'object' && argument !== null && 'namespace' in argument
      ? argument.namespace
      : argument;
  return typeof named === 'string' ? named : '';
}

/** The refusal that an error is; null for other errors. */
export function refusalOf(
  error: unknown,
  identity: string,
  verb: string,
  namespace: string,
): RefusalEvent | null {
  const code = error instanceof LaneError ? refusalCodeSchema.safeParse(error.code) : undefined;
  if (!code?.success) return null;
  return {
    event: 'refused',
    namespace: namespace.slice(0, 100),
    verb,
    by: identity.slice(0, 128),
    code: code.data,
    atMs: Date.now(),
  };
}
