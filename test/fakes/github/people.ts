/**
 * The people on the stand-in, one for each kind of right that GitHub knows, and the owners of its repositories.
 */

/** What a person may do on every repository of an organization; `none` is a stranger. */
export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'none';

export interface Person {
  login: string;
  role: Role;
  /** A personal token in GitHub's form. */
  token: string;
}

type PersonName = 'admin' | 'maintainer' | 'writer' | 'triager' | 'stranger';
export type People = Record<PersonName, Person>;

/** Organizations that exist; the App starts out installed on the first. */
export const organizations = ['acme', 'globex'] as const;

/** @param secret gives a fresh random text of 40 hexadecimal digits. */
export function makePeople(secret: () => string): People {
  const person = (login: string, role: Role): Person => ({
    login,
    role,
    token: `ghp_${secret().slice(0, 36)}`,
  });
  return {
    admin: person('maria', 'admin'),
    maintainer: person('mateo', 'maintain'),
    writer: person('wanda', 'write'),
    triager: person('tariq', 'triage'),
    stranger: person('sven', 'none'),
  };
}

/** emulate's word for a role, as its collaborator route takes it; undefined where it needs none. */
export function collaboratorWord(role: Role): string | undefined {
  if (role === 'maintain' || role === 'triage') return role;
  return role === 'write' ? 'push' : undefined;
}
