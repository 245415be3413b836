/** Faults of the store while a machine posts entries, and the same request again. */
import { describe, expect, inject, it } from 'vitest';
import { outcome } from '../../support/acceptance.ts';
import { makeMachine, postAs } from '../../support/machines.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { type Fault, faults, type Rule } from '../../support/proxy.ts';
import { entriesWith } from '../../support/stored-items.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile({ MACHINES: 'on' });
const { api, environment } = service;
const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = environment;
const machine = await makeMachine(api, admin, ['audit:write']);

let keys = 0;
const newPost = () => {
  keys += 1;
  const resource = `shop.orders-${keys}`;
  const entries = ['0', '1', '2', '3'].map((resourceId) => ({
    ...{ action: 'CREATE', resource, result: 'SUCCESS', resourceId, details: { a: 1 } },
  }));
  const key = `key-${keys}`;
  const send = () => postAs(api, machine.key, key, entries);
  const stored = () => entriesWith(inject('engine'), audit, { resource });
  return { send, stored };
};

/** The contents of the writes of entries, each once, since the proxy was told to forget. */
const writesOfEntries = () =>
  new Set(
    proxy.requests
      .filter(({ operation, tables }) => operation === 'PutItem' && tables.includes(audit))
      .map(({ content }) => content),
  );
const key = { operation: 'PutItem', table: users } as const;
const entry = { operation: 'PutItem', table: audit } as const;

describe('A request whose first attempts get no response', () => {
  it.each([
    ['the key', { ...key, fault: faults.lose, times: 1 }],
    ['each entry', { ...entry, fault: faults.lose, firstAttempt: true }],
    ['one entry', { ...entry, fault: faults.lose, times: 1 }],
  ] as const)('is stored once, and is new, where it is the write of %s', async (_, rule) => {
    const { send, stored } = newPost();
    proxy.impose(rule);

    const first = await send();
    proxy.impose();
    const again = await send();

    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(first.body.data).toEqual(
      (await stored()).map(({ id, created_at }) => ({ id, created_at })),
    );
    expect(first.body.data).toHaveLength(4);
  });
});

describe('A request that fails is completed by the same request, byte by byte as it would have been, where', () => {
  const always = (where: Omit<Rule, 'fault'>, fault: Fault) => [{ ...where, fault }];
  /** The first entries are stored, and the others are not. */
  const behind = (times: number, fault: Fault) => [
    { ...entry, fault: faults.pass, times },
    { ...entry, fault },
  ];
  const missing = 'ResourceNotFoundException';

  // The name that the response has, the entries that are stored by the first request, and the status of the second.
  it.each<[string, readonly Rule[], string, number, number]>([
    [
      'no key of a machine can be read',
      always({ operation: 'GetItem', table: users }, faults.missingTable),
      missing,
      0,
      201,
    ],
    ['the key cannot be written', always(key, faults.missingTable), missing, 0, 201],
    ['the key is throttled', always(key, faults.throttle), 'ThrottlingException', 0, 201],
    [
      'the key is written, and no attempt is answered',
      always(key, faults.lose),
      'ECONNRESET',
      0,
      200,
    ],
    ['no entry can be written', always(entry, faults.missingTable), missing, 0, 200],
    ['the connections of entries break', always(entry, faults.reset), 'ECONNRESET', 0, 200],
    [
      'the entries after the first are not written',
      behind(1, faults.missingTable),
      missing,
      1,
      200,
    ],
    [
      'the last entry is throttled',
      behind(3, faults.throughputExceeded),
      'ProvisionedThroughputExceededException',
      3,
      200,
    ],
    [
      'the entries are written, and no attempt is answered',
      always(entry, faults.lose),
      'ECONNRESET',
      4,
      200,
    ],
  ])('%s', async (_, rules, insertErr, storedFirst, status) => {
    const { send, stored } = newPost();
    proxy.forget();
    proxy.impose(...rules);

    const first = await send();
    proxy.impose();
    const before = await stored();
    const again = await send();

    const message = 'Error recording audit entries';
    expect(outcome(first)).toEqual([500, { message, insertErr }]);
    expect(before).toHaveLength(storedFirst);
    expect(again.status).toBe(status);
    const after = await stored();
    expect(after.map(({ id, created_at }) => ({ id, created_at }))).toEqual(again.body.data);
    expect(after).toHaveLength(4);
    expect(after).toEqual(expect.arrayContaining(before as object[]));
    // Both requests write the same contents.
    expect(writesOfEntries().size).toBe(4);
    expect(await send()).toMatchObject({ status: 200, body: again.body });
  });
});
