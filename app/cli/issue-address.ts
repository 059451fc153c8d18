/** Issues as people write them: `12`, `#12`, `owner/name#12`, or the address of the page. */
import { InvalidArgumentError } from 'commander';

export interface IssueAddress {
  readonly number: number;
  /** `owner/name`; not needed where only one repository has such an issue. */
  readonly repository?: string;
}

const short = /^(?:([\w.-]+\/[\w.-]+))?#?(\d{1,10})$/;
const page = /^https?:\/\/[^/]+\/([\w.-]+\/[\w.-]+)\/(?:issues|pull)\/(\d{1,10})\/?(?:[?#].*)?$/;

/** @throws InvalidArgumentError, which commander turns into a usage error */
export function parseIssueAddress(text: string): IssueAddress {
  const [, repository, digits] = page.exec(text) ?? short.exec(text) ?? [];
  const number = Number(digits);
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('Write an issue as 12, owner/name#12, or the address of its page.');
  }
  return repository === undefined ? { number } : { number, repository };
}
