/** Which Redis users an installation has: the App's in every namespace, and one for each grant. */
import { appIdentity, type UserRef } from '../../lanes/index.ts';
import type { OperatorConfig } from './operator-file.ts';

/** The users that follow from the operator's file. */
export function wantedUsers({ registry, grants }: Pick<OperatorConfig, 'registry' | 'grants'>): UserRef[] {
  return [
    ...[...registry].map((namespace) => ({ namespace, identity: appIdentity })),
    ...[...grants].flatMap(([identity, namespaces]) =>
      namespaces.map((namespace) => ({ namespace, identity })),
    ),
  ];
}
