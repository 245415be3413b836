import { randomBytes, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { beginEnrolment, confirmEnrolment } from '../../../lib/accounts/change-factor.ts';
import { refreshSession } from '../../../lib/accounts/refresh.ts';
import type { Belonging } from '../../../lib/keys/token.ts';
import { findBearer } from '../../../lib/options/sessions/bearer.ts';
import { beginSession } from '../../../lib/options/sessions/session-tokens.ts';
import type { FactorUsed } from '../../../lib/options/sessions/sessions.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { stopClock } from '../../support/acceptance.ts';
import { gatewayEvent } from '../../support/event.ts';
import { testEndpoint } from '../../support/operation.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { passkeySettings } from '../../support/passkeys.ts';
import { codeOf } from '../../support/second-factor.ts';
import { insertedUser, setFields } from '../../support/stored-user.ts';

await useOwnTables();
const environment = {
  ...passkeySettings,
  JWT_SECRET: 'x'.repeat(40),
  BCRYPT_COST: '4',
  SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
};
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: randomUUID() };
const password = 'right';
const password_hash = await hashPassword(password);

const passkeyOf = (id: string) => {
  const credential_id = randomUUID();
  return { id, credential_id, name: 'Passkey', created_at: '2026-11-28T00:00:00.000Z' };
};
const totp = { factor_secret: 'a secret', factor_step: 1 };
const noTotp = { factor_secret: undefined, factor_step: undefined };
const passkeys = [passkeyOf('kept')];

/** The factors that an account may have, which are the columns. */
const accounts = {
  nothing: { ...noTotp, passkeys: undefined },
  TOTP: { ...totp, passkeys: undefined },
  'a passkey': { ...noTotp, passkeys },
  both: { ...totp, passkeys },
} as const;

interface Row {
  /** The factors of the account when the session begins. */
  readonly with: object;
  /** The factor by which the session began; absent: it began by a password or an identity alone. */
  readonly began?: FactorUsed;
  /** Whether TOTP is enrolled in the session. */
  readonly enrols?: true;
  /** Whether the session has its user's standing from the beginning, if admins need a factor. */
  readonly first: boolean;
  /** Whether it has the standing later, with the factors that the account then has, in the order of the columns. */
  readonly later: readonly [boolean, boolean, boolean, boolean];
}

const both = [passkeyOf('removed'), ...passkeys];
const [yes, no] = [true, false];
// biome-ignore format: a table
const rows: Readonly<Record<string, Row>> = {
  'by a password':              { with: {},                                                  first: no,  later: [no, no,  no,  no] },
  'by a code':                  { with: totp,               began: 'code',                   first: yes, later: [no, yes, no,  yes] },
  'by a passkey':               { with: { passkeys },       began: { passkey: 'kept' },      first: yes, later: [no, no,  yes, yes] },
  'by a passkey that goes':     { with: { passkeys: both }, began: { passkey: 'removed' },   first: yes, later: [no, no,  no,  no] },
  'by a password, then enrols': { with: {}, enrols: true,                                    first: no,  later: [no, yes, no,  yes] },
  'by a passkey, then enrols':  { with: { passkeys }, enrols: true, began: { passkey: 'kept' },
                                                                                             first: yes, later: [no, yes, yes, yes] },
};

const persons = {
  'an admin': { role: 'admin' },
  'an auditor': { role: 'user', auditor: true },
} as const;

/** An endpoint that only admins and auditors may call. */
const readsTrail = testEndpoint({ may: 'audit' }, () => ({ statusCode: 200 }));
const outcomeOf = async (token: string): Promise<string> => {
  const { statusCode, headers } = await readsTrail(gatewayEvent({ token }), {});
  return statusCode === 200 ? 'allowed' : String(headers?.['Error-Code']);
};
const roleOf = (token: string) => decodeJwt(token).role;

const enrol = async (id: number, token: string) => {
  const find = async () =>
    (await findBearer(id, decodeProtectedHeader(token) as Partial<Belonging>)) ??
    expect.unreachable();
  const begun = { caller: await find(), source, currentPassword: password };
  const { secret } = await beginEnrolment(begun, 'issuer');
  await confirmEnrolment({ caller: await find(), source, code: codeOf(secret) });
};

interface Case {
  readonly person: keyof typeof persons;
  /** The setting when the session begins, and the setting later. */
  readonly then: string;
  readonly now: string;
}

/** Begins a session while a setting is in force; then the factors of its account change. */
const begin = async ({ person }: Case, row: Row, account: keyof typeof accounts) => {
  const user = await insertedUser({ password_hash, ...persons[person], ...row.with });
  const { token, refreshToken = '' } = await beginSession(user, source, row.began);
  if (row.enrols) await enrol(user.id, token);
  await setFields(user.id, accounts[account]);
  return { token, refreshToken };
};

const settings = ['off', 'optional', 'admins'] as const;
const cases = settings.flatMap((then) =>
  settings.flatMap((now): Case[] => [
    { person: 'an admin', then, now },
    // With the other settings, auditors need no factor either.
    ...(now === 'admins' ? [{ person: 'an auditor', then, now } as const] : []),
  ]),
);
const columns = Object.keys(accounts) as (keyof typeof accounts)[];
/** While the option is off, nobody can enrol. */
const cellsOf = ({ then }: Case) =>
  Object.entries(rows)
    .filter(([, { enrols }]) => !enrols || then !== 'off')
    .flatMap(([began, row]) =>
      columns.map((has, i) => ({ began, row, has, later: row.later[i] === yes })),
    );

/** The role in the token of a session, depending on whether it has its user's standing if admins need a factor. */
const roleUnder = (setting: string, { person }: Case, stands: boolean) =>
  stands || setting !== 'admins' ? persons[person].role : 'user';

describe('The standing of a session', () => {
  it.each(cases)(
    'of $person (SECOND_FACTOR was $then, is $now) follows from how it began and from the account’s factors',
    async (each) => {
      stopClock();
      const { then, now } = each;
      const cells = cellsOf(each);
      vi.stubEnv('SECOND_FACTOR', then);
      const begun = await Promise.all(cells.map(({ row, has }) => begin(each, row, has)));
      vi.stubEnv('SECOND_FACTOR', now);

      const found = await Promise.all(
        begun.map(async ({ token, refreshToken }) => {
          const before = await outcomeOf(token);
          const next = await refreshSession(refreshToken, source);
          return [roleOf(token), before, roleOf(next.token), await outcomeOf(next.token)];
        }),
      );

      const expected = cells.map(({ row, later }) => {
        const outcome = later || now !== 'admins' ? 'allowed' : 'SECOND_FACTOR_REQUIRED';
        return [roleUnder(then, each, row.first), outcome, roleUnder(now, each, later), outcome];
      });
      const named = (outcomes: unknown[][]) =>
        cells.map(({ began, has }, cell) => [began, has, ...(outcomes[cell] ?? [])].join(', '));
      expect(named(found)).toEqual(named(expected));
    },
  );
});
