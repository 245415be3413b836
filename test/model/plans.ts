/** Commands at random, to the addresses and users of one run. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Command } from '../support/model.ts';

export interface Scene {
  readonly emails: readonly string[];
  /** Of the users that were created so far, deleted ones included. */
  readonly ids: number[];
}

const emailCount = 3;
const passwords: readonly string[] = ['one', 'other'];

export const makeScene = (): Scene => {
  const run = randomUUID();
  return { emails: Array.from({ length: emailCount }, (_, i) => `${i}-${run}@b`), ids: [] };
};

/** A command before it is known which users there are. */
export type Plan = (scene: Scene) => Command;

/** An id that no user has. */
const nobody: number = Number.MAX_SAFE_INTEGER;

const email = fc.record({
  which: fc.nat(emailCount - 1),
  spelling: fc.constantFrom('toLowerCase', 'toUpperCase'),
});
const spell = ({ emails }: Scene, { which, spelling }: { which: number; spelling: string }) =>
  spelling === 'toUpperCase' ? (emails[which] ?? '').toUpperCase() : (emails[which] ?? '');

const password = fc.constantFrom(...passwords);
const name = fc.constantFrom('Ada', 'Grace', 'Élan');
const role = fc.constantFrom('user', 'admin');

const user = fc.nat(5);
const idOf = ({ ids }: Scene, which: number) => ids[which % Math.max(1, ids.length)] ?? nobody;

/** Plans that print as what they were made of. */
const plan = <Parts>(parts: fc.Arbitrary<Parts>, make: (scene: Scene, parts: Parts) => Command) =>
  parts.map((made): Plan => {
    const planned: Plan = (scene) => make(scene, made);
    return Object.assign(planned, { [fc.toStringMethod]: () => JSON.stringify(made) });
  });

const newUser = fc.record({ name, email, password, role });

const creation = (kind: 'register' | 'create'): fc.Arbitrary<Plan> =>
  plan(fc.record({ kind: fc.constant(kind), user: newUser }), (scene, { user: made }) => ({
    kind,
    user: { ...made, email: spell(scene, made.email) },
  }));

const login = plan(
  fc.record({ kind: fc.constant('login'), email, password }),
  (scene, { email: typed, password: tried }) => ({
    kind: 'login',
    email: spell(scene, typed),
    password: tried,
  }),
);

const update = plan(
  fc.record({
    kind: fc.constant('update'),
    user,
    values: newUser,
    fields: fc.subarray(['name', 'email', 'password', 'role'] as const, { minLength: 1 }),
  }),
  (scene, { user: which, values, fields }) => {
    const full = { ...values, email: spell(scene, values.email) };
    const changes = Object.fromEntries(fields.map((field) => [field, full[field]]));
    return { kind: 'update', id: idOf(scene, which), changes };
  },
);

/** By somebody who was an admin when the token was issued. */
const appointment = plan(
  fc.record({ kind: fc.constant('create'), by: user, user: newUser }),
  (scene, { kind, by, user: made }) => ({
    kind,
    by: idOf(scene, by),
    user: { ...made, email: spell(scene, made.email), role: 'admin' },
  }),
);

const promotion = plan(
  fc.record({ kind: fc.constant('update'), by: user, user }),
  (scene, { kind, by, user: which }) => ({
    kind,
    by: idOf(scene, by),
    id: idOf(scene, which),
    changes: { role: 'admin' },
  }),
);

const onUser = (kind: 'get' | 'delete') =>
  plan(fc.record({ kind: fc.constant(kind), user }), (scene, parts) => ({
    kind,
    id: idOf(scene, parts.user),
  }));

const list = plan(fc.constant({ kind: 'list' }), () => ({ kind: 'list' }));

export const creations: fc.Arbitrary<Plan> = fc.oneof(creation('register'), creation('create'));

/** Without the list, which comes from an index that may be behind. */
export const consistent: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 2, arbitrary: creations },
  { weight: 5, arbitrary: update },
  { weight: 2, arbitrary: promotion },
  { weight: 1, arbitrary: appointment },
  { weight: 1, arbitrary: onUser('delete') },
  { weight: 1, arbitrary: login },
  { weight: 1, arbitrary: onUser('get') },
);

export const anything: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 8, arbitrary: consistent },
  { weight: 1, arbitrary: list },
);

/** Looks at everything that a run may have left. */
export const inspection = ({ emails, ids }: Scene): readonly Command[] => [
  ...ids.map((id) => ({ kind: 'get', id }) as const),
  ...emails.flatMap((address) =>
    passwords.map((tried) => ({ kind: 'login', email: address, password: tried }) as const),
  ),
];
