/** Commands at random, to the addresses and users of one run. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Command } from '../support/model.ts';

export interface Scene {
  readonly emails: readonly string[];
  /** Of the users that were created so far, deleted ones included. */
  readonly ids: number[];
  /** Those of them whom somebody without the role has made, and who. */
  readonly made: { readonly id: number; readonly by: number }[];
}

const emailCount = 3;
const passwords: readonly string[] = ['one', 'other'];

export const makeScene = (): Scene => {
  const run = randomUUID();
  return {
    emails: Array.from({ length: emailCount }, (_, i) => `${i}-${run}@b`),
    ids: [],
    made: [],
  };
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

const updateParts = fc.record({
  kind: fc.constant('update' as const),
  user,
  values: newUser,
  fields: fc.subarray(['name', 'email', 'password', 'role'] as const, { minLength: 1 }),
});
type UpdateParts = typeof updateParts extends fc.Arbitrary<infer Parts> ? Parts : never;

const updateOf = (scene: Scene, { kind, user: which, values, fields }: UpdateParts) => {
  const full = { ...values, email: spell(scene, values.email) };
  const changes = Object.fromEntries(fields.map((field) => [field, full[field]]));
  return { kind, id: idOf(scene, which), changes };
};

const update = plan(updateParts, updateOf);

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

/** By anybody without the role. */
const making = plan(
  fc.record({ kind: fc.constant('create'), by: user, user: newUser }),
  (scene, { kind, by, user: made }) => ({
    kind,
    by: idOf(scene, by),
    as: 'user',
    user: { ...made, email: spell(scene, made.email), role: 'user' },
  }),
);

const changeAsUser = plan(
  fc.record({ by: user, update: updateParts }),
  (scene, { by, update: parts }) => ({
    ...updateOf(scene, parts),
    by: idOf(scene, by),
    as: 'user',
  }),
);

const changeByMaker = plan(
  fc.record({ made: user, update: updateParts }),
  (scene, { made: which, update: parts }) => ({
    ...updateOf(scene, parts),
    ...(scene.made[which % scene.made.length] ?? { id: nobody, by: nobody }),
    as: 'user',
  }),
);

const onUser = (kind: 'get' | 'delete') =>
  plan(fc.record({ kind: fc.constant(kind), user }), (scene, parts) => ({
    kind,
    id: idOf(scene, parts.user),
  }));

const list = plan(fc.constant({ kind: 'list' }), () => ({ kind: 'list' }));

export const creations: fc.Arbitrary<Plan> = fc.oneof(
  creation('register'),
  creation('create'),
  making,
);

/** Without the list, which comes from an index that may be behind. */
export const consistent: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 2, arbitrary: creations },
  { weight: 5, arbitrary: update },
  { weight: 2, arbitrary: promotion },
  { weight: 1, arbitrary: appointment },
  { weight: 2, arbitrary: changeAsUser },
  { weight: 4, arbitrary: changeByMaker },
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
