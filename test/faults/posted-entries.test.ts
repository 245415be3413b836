/** A service that is killed while it stores the entries of a machine, and the same request again. */
import { afterAll, expect, inject, it } from 'vitest';
import { logIn } from '../support/client.ts';
import { makeMachine, postAs } from '../support/machines.ts';
import { proxyForThisFile } from '../support/proxied-service.ts';
import { type Fault, faults, type Rule } from '../support/proxy.ts';
import { seed } from '../support/runs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { entriesWith } from '../support/stored-items.ts';
import { until } from '../support/until.ts';

const kills = 12;
const number = 25;

const proxy = await proxyForThisFile();
let service = await startTestService({ MACHINES: 'on', AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
const { environment } = service;
const audit = environment.AUDIT_TABLE ?? '';
const machine = await makeMachine(service.api, await logIn(service.api, service.admin), [
  'audit:write',
]);
afterAll(() => service.stop());

/** A request, and the entries of it that are stored. */
const newPost = (key: string) => {
  const resource = `shop.${key}`;
  const entries = Array.from({ length: number }, (_, i) => ({
    ...{ action: 'CREATE', resource, result: 'SUCCESS', resourceId: String(i) },
    details: { text: 'x'.repeat(500) },
  }));
  const send = ({ api }: TestService) => postAs(api, machine.key, key, entries);
  const stored = () => entriesWith(inject('engine'), audit, { resource });
  return { send, stored };
};
await newPost('first').send(service);

const entry = { operation: 'PutItem', table: audit } as const;
/** The contents of the writes of entries since the proxy was told to forget. */
const writes = () =>
  proxy.requests
    .filter(({ operation, tables }) => operation === 'PutItem' && tables.includes(audit))
    .map(({ content }) => content);

/** Kills the service, starts another one on its tables, and repeats the request there. */
const killAndRepeat = async ({ send, stored }: ReturnType<typeof newPost>) => {
  service.process?.kill('SIGKILL');
  await until(() => service.process?.signalCode);
  proxy.impose();
  const before = await stored();
  service = await startTestService(environment);
  const { status, body } = await send(service);
  const after = await stored();
  expect(after.map(({ id, created_at }) => ({ id, created_at }))).toEqual(body.data);
  expect(after).toHaveLength(number);
  // An entry that was stored has not changed.
  expect(after).toEqual(expect.arrayContaining(before as object[]));
  // Both services wrote the same contents.
  expect(new Set(writes()).size).toBe(number);
  return { status, before };
};

it.each<[string, number]>([
  ['between the key and its entries', 0],
  ['after the first entry', 1],
  ['between its entries', 12],
  ['before the last entry', 24],
])(
  'A service that is killed %s has its request completed by the same request',
  async (_, times) => {
    const post = newPost(`killed-${times}`);
    const passed: Rule[] = times === 0 ? [] : [{ ...entry, fault: faults.pass, times }];
    proxy.forget();
    proxy.impose(...passed, { ...entry, fault: faults.stall });
    const killed = post.send(service).catch(() => undefined);
    await until(() => writes().length >= number);
    await until(async () => (await post.stored()).length === times);

    const { status, before } = await killAndRepeat(post);

    expect(await killed).toBeUndefined();
    expect([status, before.length]).toEqual([200, times]);
  },
);

it('A service that is killed before its key is written has stored nothing', async () => {
  const post = newPost('no-key');
  proxy.forget();
  proxy.impose({ operation: 'PutItem', fault: faults.stall });
  const killed = post.send(service).catch(() => undefined);
  await until(() => proxy.requests.some(({ operation }) => operation === 'PutItem'));

  const { status, before } = await killAndRepeat(post);

  expect(await killed).toBeUndefined();
  expect([status, before]).toEqual([201, []]);
});

it('A service that is killed at any write of an entry loses and doubles no entry of its request', async () => {
  let random = seed;
  const seen: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const post = newPost(`instant-${kill}`);
    random = (random * 48_271) % 2_147_483_647;
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    const killing: Fault = () => {
      service.process?.kill('SIGKILL');
      resolve();
    };
    proxy.forget();
    // The engine may still write entries while the next service reads what there is.
    proxy.impose(
      { ...entry, fault: faults.pass, times: random % number },
      { ...entry, fault: killing, times: 1 },
      { ...entry, fault: faults.stall },
    );
    const sent = post.send(service).catch(() => undefined);
    await killed;

    const { status, before } = await killAndRepeat(post);

    expect([await sent, status]).toEqual([undefined, 200]);
    seen.push(before.length);
  }
  console.log(`Stored before the kills: ${seen.join(', ')}`);
});
