/** The contracts of all endpoints, in the order of the document. */
import type { Contract, Descriptions, Endpoint } from '../lib/contract/contract.ts';
import * as accountDeletions from './account-deletions/contract.ts';
import * as auditLogs from './audit-logs/contract.ts';
import * as auditSeal from './audit-seal/contract.ts';
import * as auth from './auth/contract.ts';
import * as console from './console/contract.ts';
import * as docs from './docs/contract.ts';
import * as emailVerifications from './email-verifications/contract.ts';
import * as identities from './identities/contract.ts';
import * as invitations from './invitations/contract.ts';
import * as machines from './machines/contract.ts';
import * as passkeys from './passkeys/contract.ts';
import * as passwordResets from './password-resets/contract.ts';
import * as profile from './profile/contract.ts';
import * as secondFactor from './second-factor/contract.ts';
import * as sessions from './sessions/contract.ts';
import * as settings from './settings/contract.ts';
import * as suspension from './suspension/contract.ts';
import * as users from './users/contract.ts';
import * as v1Users from './v1-users/contract.ts';
import * as wellKnown from './well-known/contract.ts';

const folders = {
  auth,
  profile,
  'account-deletions': accountDeletions,
  'password-resets': passwordResets,
  'email-verifications': emailVerifications,
  identities,
  passkeys,
  sessions,
  'second-factor': secondFactor,
  users,
  suspension,
  invitations,
  machines,
  'audit-logs': auditLogs,
  'audit-seal': auditSeal,
  settings,
  'v1-users': v1Users,
  'well-known': wellKnown,
  docs,
  console,
};

interface Exports {
  readonly tag: string;
  readonly descriptions: Descriptions;
}

export const endpoints: readonly Endpoint[] = Object.entries<Exports>(folders).flatMap(
  ([folder, { tag, descriptions, ...exports }]) =>
    Object.entries(descriptions).map(([name, describe]) => ({
      file: `${folder}/${fileOf(name)}`,
      contract: (exports as Readonly<Record<string, Contract>>)[name] as Contract,
      tag,
      describe,
    })),
);

/** The handler of the contract `endOthers` is the file `end-others.ts`. */
function fileOf(name: string): string {
  return name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
}
