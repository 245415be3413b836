/** The trail of another service (functions/client/README.md, Audit entries of your own services), fault by fault. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AccountsError } from '../../functions/client/answer.ts';
import { type TrailEntry, type TrailOptions, trailOf } from '../../functions/client/trail.ts';
import { stillClockForThisFile } from '../support/still-clock.ts';
import { manualClock } from './support/manual-clock.ts';
import { type Fault, faults, trailServiceForThisFile } from './support/trail-service.ts';

const { url, state } = await trailServiceForThisFile();
stillClockForThisFile();

const key = 'mk_1_good';
const now = '2030-01-02T03:04:05.678Z';

const entryOf = (resourceId: number | string, more: Partial<TrailEntry> = {}): TrailEntry => ({
  ...{ action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS' },
  ...{ resourceId: String(resourceId), ...more },
});

/** A trail, what it gives back, and its clock. @param beforePausesEnd as in {@link manualClock} */
const start = (options: Partial<TrailOptions> = {}, beforePausesEnd?: Promise<void>) => {
  const given: (readonly [TrailEntry, AccountsError])[] = [];
  const onRefused = (...refused: readonly [TrailEntry, AccountsError]) => void given.push(refused);
  const { clock, ...time } = manualClock(beforePausesEnd);
  const trail = trailOf({ url, key, onRefused, ...options }, clock);
  const recordAll = (ids: readonly number[]) => ids.forEach((id) => void trail.record(entryOf(id)));
  /** The ids of the entries that were given back, each with the code of its error. */
  const refused = () => given.map(([{ resourceId }, { code }]) => `${resourceId} ${code}`);
  return { ...trail, ...time, recordAll, given, refused };
};

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const storedIds = () => state.entries.map(({ resourceId }) => Number(resourceId));
const sizes = () => state.arrived.map(({ body }) => JSON.parse(body).entries.length);
const keys = () => state.arrived.map(({ id }) => id);
const always = (fault: Fault, times = 100): Fault[] => Array(times).fill(fault);

describe('Entries are sent', () => {
  it('in their order, 25 in a request, each request under a key of its own', async () => {
    const { recordAll, flush, given } = start();
    recordAll(upTo(60));
    await flush();

    expect(storedIds()).toEqual(upTo(60));
    expect(sizes()).toEqual([25, 25, 10]);
    expect(new Set(keys()).size).toBe(3);
    expect(given).toEqual([]);
  });

  it('as they were when they were recorded, with the time at which they happened', async () => {
    const { record, flush } = start();
    const details = { items: 2 };
    const occurredAt = '2030-01-01T00:00:00Z';
    record(entryOf(1, { details, userId: 5 }));
    record(entryOf(2, { occurredAt, userId: null }));
    details.items = 3;
    await flush();

    expect(state.entries).toEqual([
      { ...entryOf(1, { details: { items: 2 }, userId: 5 }), occurredAt: now },
      { ...entryOf(2, { userId: null }), occurredAt },
    ]);
  });

  it('in bodies of 64 KiB at most, counted in bytes', async () => {
    const { record, flush, given } = start();
    for (const id of upTo(25)) record(entryOf(id, { userAgent: '€'.repeat(1500) }));
    await flush();

    const bytes = state.arrived.map(({ body }) => Buffer.byteLength(body));
    expect(Math.max(...bytes)).toBeLessThanOrEqual(64 * 1024);
    expect(sizes()).toEqual([14, 11]);
    expect([storedIds(), given]).toEqual([upTo(25), []]);
  });

  it('a second after the first one of them, without a flush', async () => {
    const { recordAll, passSecond, flush } = start();
    recordAll([1, 2]);
    expect(state.arrived).toEqual([]);
    passSecond();
    await expect.poll(storedIds).toEqual([1, 2]);

    await flush();
    recordAll([3]);
    passSecond();
    await expect.poll(storedIds).toEqual([1, 2, 3]);
  });

  it('at once when there are 25', async () => {
    start().recordAll(upTo(26));
    await expect.poll(storedIds).toEqual(upTo(25));
  });

  it('in one request where they have come while another one was under way', async () => {
    const { recordAll, passSecond } = start();
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    state.faults.push({
      after: async (response) => {
        arrived.resolve();
        await held.promise;
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ data: upTo(25) }));
      },
    });
    recordAll(upTo(26));
    await arrived.promise;
    passSecond();
    recordAll([27, 28]);
    passSecond();
    held.resolve();

    await expect.poll(storedIds).toEqual(upTo(28));
    expect(sizes()).toEqual([25, 3]);
  });
});

describe('flush', () => {
  it('resolves at once where nothing waits', async () => {
    await start().flush();
    expect(state.arrived).toEqual([]);
  });

  it('does not wait for entries that are recorded after it was called', async () => {
    const { recordAll, flush } = start();
    recordAll([1]);
    const first = flush();
    recordAll([2]);
    await first;

    expect(storedIds()).toEqual([1]);
    await flush();
    expect(storedIds()).toEqual([1, 2]);
  });

  it('keeps the process from ending in a pause that began before it was called', async () => {
    const end = Promise.withResolvers<void>();
    const { recordAll, flush, pauses, held } = start({}, end.promise);
    state.faults.push(faults['a fault of the service']);
    recordAll(upTo(25));
    await expect.poll(() => pauses).toEqual([187.5]);
    expect(held).toEqual([]);
    const flushed = flush();
    expect(held).toEqual([187.5]);
    end.resolve();
    await flushed;

    expect(storedIds()).toEqual(upTo(25));
  });

  it.each([
    ['that the service refuses', { resource: 'orders' }],
    ['that is not sent', { details: { amount: 1n } }],
  ])('waits until onRefused has dealt with an entry %s', async (_, more) => {
    const dealtWith: unknown[] = [];
    const onRefused = async ({ resourceId }: TrailEntry) => {
      // Longer than a flush takes that does not wait.
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      dealtWith.push(resourceId);
    };
    const { record, flush } = start({ onRefused });
    record(entryOf(1, more));
    await flush();

    expect(dealtWith).toEqual(['1']);
  });
});

describe('After a fault', () => {
  it.each(Object.entries(faults))(
    'the same bytes are sent again under the same key, and stored once: %s',
    async (_, fault) => {
      const { recordAll, flush, given, pauses } = start();
      state.faults.push(fault);
      recordAll(upTo(3));
      await flush();

      expect(storedIds()).toEqual(upTo(3));
      expect(given).toEqual([]);
      const [first, second, ...others] = state.arrived;
      expect([second, others]).toEqual([first, []]);
      expect(pauses).toHaveLength(1);
    },
  );

  it.each([
    ['a quarter of a second or somewhat less', faults['a fault of the service'], 187.5],
    ['the seconds of Retry-After in addition', faults['a throttle'], 7187.5],
    ['ten seconds in addition where a gateway names none', faults['a gateway that fails'], 10187.5],
    [
      'a minute in addition at most',
      { before: (response) => response.writeHead(429, { 'retry-after': '86400' }).end() },
      60187.5,
    ],
  ] satisfies [string, Fault, number][])(
    'the first pause takes %s',
    async (_, fault, milliseconds) => {
      const { recordAll, flush, pauses } = start();
      state.faults.push(fault);
      recordAll([1]);
      await flush();

      expect(pauses).toEqual([milliseconds]);
    },
  );

  it('pauses double up to half a minute, and after ten attempts the entries are given back', async () => {
    const { recordAll, flush, pauses, refused } = start();
    state.faults = always(faults['a fault of the service']);
    recordAll(upTo(2));
    await flush();

    expect(state.arrived).toHaveLength(10);
    expect(new Set(keys()).size).toBe(1);
    expect(pauses).toEqual(
      [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((it) => it * 0.75),
    );
    expect(refused()).toEqual(['1 SERVER_FAULT', '2 SERVER_FAULT']);
  });

  it('that lasts, each further batch is sent once, until one is stored', async () => {
    const { recordAll, flush, refused } = start({ attempts: 3 });
    state.faults = always(faults['a fault of the service'], 4);
    recordAll(upTo(25));
    recordAll(upTo(25, 26));
    await flush();
    expect(sizes()).toEqual([25, 25, 25, 25]);
    expect(refused()).toHaveLength(50);

    recordAll([51]);
    await flush();
    state.faults = always(faults['a fault of the service'], 2);
    recordAll([52]);
    await flush();

    expect(storedIds()).toEqual([51, 52]);
    expect(refused()).toHaveLength(50);
  });

  it('for which no response comes, the batches that wait already are given back unsent', async () => {
    const { recordAll, flush, given } = start({ attempts: 2 });
    const lost = faults['a connection that breaks before anything is stored'];
    state.faults = always(lost, 2);
    recordAll(upTo(60));
    await flush();

    expect(sizes()).toEqual([25, 25]);
    expect(given.map(([{ resourceId }]) => Number(resourceId))).toEqual(upTo(60));
    expect(new Set(given.map(([, { code }]) => code))).toEqual(new Set(['NO_RESPONSE']));
    recordAll([61]);
    await flush();
    expect(storedIds()).toEqual([61]);
  });
});

describe('A key', () => {
  it('that a function returns is used for all batches', async () => {
    const ask = vi.fn(async () => key);
    const { recordAll, flush } = start({ key: ask });
    recordAll(upTo(50));
    await flush();

    expect([storedIds(), ask.mock.calls.length]).toEqual([upTo(50), 1]);
  });

  it('that is refused is asked for again at once, and the same request is sent with the next one', async () => {
    const ask = vi.fn().mockResolvedValueOnce('mk_1_old').mockResolvedValue('mk_1_next');
    state.keys = ['mk_1_old'];
    const { recordAll, flush, given, pauses } = start({ key: ask, attempts: 1 });
    recordAll([1]);
    await flush();
    state.keys = ['mk_1_next'];
    recordAll([2]);
    await flush();

    expect(storedIds()).toEqual([1, 2]);
    expect(state.arrived.map((each) => each.key)).toEqual(['mk_1_old', 'mk_1_old', 'mk_1_next']);
    expect(state.arrived[2]).toEqual({ ...state.arrived[1], key: 'mk_1_next' });
    expect([pauses, given]).toEqual([[], []]);
  });

  it('that is refused although it is new is asked for again after a pause, and not for ever', async () => {
    const ask = vi.fn(async () => 'mk_1_wrong');
    const { recordAll, flush, refused, pauses } = start({ key: ask, attempts: 3 });
    recordAll([1]);
    await flush();

    expect([ask.mock.calls.length, state.arrived.length, pauses.length]).toEqual([3, 3, 2]);
    expect(refused()).toEqual(['1 TOKEN_INVALID']);
  });

  it('that is text and is refused gives the entries back after one request', async () => {
    const { recordAll, flush, refused } = start({ key: 'mk_1_wrong' });
    recordAll([1]);
    await flush();

    expect([state.arrived.length, refused()]).toEqual([1, ['1 TOKEN_INVALID']]);
  });

  it('is asked for again where its function fails', async () => {
    const ask = vi.fn().mockRejectedValueOnce(new Error('not now')).mockResolvedValue(key);
    const { recordAll, flush, given } = start({ key: ask });
    recordAll([1]);
    await flush();

    expect([storedIds(), given]).toEqual([[1], []]);
  });
});

describe('Entries that the service refuses', () => {
  it('are given back with their faults, and the others are sent under a new key', async () => {
    const { record, recordAll, flush, given } = start();
    recordAll(upTo(11));
    record(entryOf(12, { resource: 'orders', result: 'MAYBE' as 'SUCCESS' }));
    record(entryOf(13));
    record(entryOf(14, { details: { text: 'x'.repeat(2048) } }));
    await flush();

    expect(storedIds()).toEqual([...upTo(11), 13]);
    expect(sizes()).toEqual([14, 12]);
    expect(new Set(keys()).size).toBe(2);
    expect(given.map(([entry, { code, status, fields }]) => [entry, code, status, fields])).toEqual(
      [
        [
          { ...entryOf(12, { resource: 'orders', result: 'MAYBE' as 'SUCCESS' }), occurredAt: now },
          'FIELD_INVALID',
          400,
          { resource: 'is invalid', result: 'is invalid' },
        ],
        [
          expect.objectContaining({ resourceId: '14' }),
          'FIELD_INVALID',
          400,
          { details: 'is invalid' },
        ],
      ],
    );
  });

  it('are given back where the key cannot be read, whatever the function throws, and later ones are sent', async () => {
    const thrown = new AggregateError([new Error('refused')]);
    const keyOf = vi.fn(async () => key).mockRejectedValueOnce(thrown);
    const { recordAll, flush, refused } = start({ key: keyOf, attempts: 1 });
    recordAll([1]);
    await flush();
    recordAll([2]);
    await flush();

    expect([refused(), storedIds()]).toEqual([['1 NO_RESPONSE'], [2]]);
  });

  it('leave nothing to send where they are all', async () => {
    const { record, flush, refused } = start();
    record(entryOf(1, { resource: 'orders' }));
    await flush();

    expect([state.arrived.length, refused()]).toEqual([1, ['1 FIELD_INVALID']]);
  });

  it.each([400, 413])(
    'are sent in halves where no entry is named, down to the entry that is refused alone: %i',
    async (status) => {
      // All four, then the first two, then the first alone.
      for (let count = 0; count < 3; count += 1) {
        state.faults.push({ before: (response) => response.writeHead(status).end('{}') });
      }
      const { recordAll, flush, refused } = start();
      recordAll(upTo(4));
      await flush();

      expect([state.arrived.length, refused()]).toEqual([5, [`1 HTTP_${status}`]]);
    },
  );

  it.each([403, 404, 409])(
    'are given back where no entry is named, and are not sent again: %i',
    async (status) => {
      state.faults.push({ before: (response) => response.writeHead(status).end('{}') });
      const { recordAll, flush, refused } = start();
      recordAll(upTo(2));
      await flush();

      expect([state.arrived.length, refused()]).toEqual([
        1,
        [`1 HTTP_${status}`, `2 HTTP_${status}`],
      ]);
    },
  );
});

describe('An entry is given back unsent', () => {
  it('if as many entries wait as may wait', async () => {
    const { recordAll, flush, refused } = start({ maxWaiting: 30 });
    recordAll(upTo(32));
    await flush();
    recordAll([33]);
    await flush();

    expect(storedIds()).toEqual([...upTo(30), 33]);
    expect(refused()).toEqual(['31 TRAIL_FULL', '32 TRAIL_FULL']);
  });

  const circular: { self?: object } = {};
  circular.self = circular;
  it.each([
    ['has a number that JSON lacks', { amount: 1n }, 'ENTRY_INVALID'],
    ['contains itself', circular, 'ENTRY_INVALID'],
    ['is larger than a body', { text: 'x'.repeat(64 * 1024) }, 'BODY_TOO_LARGE'],
  ])('if it %s', async (_, details, code) => {
    const { record, flush, refused } = start();
    record(entryOf(1));
    record(entryOf(2, { details }));
    record(entryOf(3));
    await flush();

    expect([storedIds(), refused()]).toEqual([[1, 3], [`2 ${code}`]]);
  });

  it('if its own form in JSON is nothing', async () => {
    const { record, flush, refused } = start();
    record(entryOf(1));
    record({ ...entryOf(2), toJSON: () => undefined } as TrailEntry);
    record(entryOf(3));
    await flush();

    expect([storedIds(), refused()]).toEqual([[1, 3], ['2 ENTRY_INVALID']]);
  });
});

describe('The console gets an entry', () => {
  const failing = (fail: () => unknown) => ({ onRefused: fail });
  it.each([
    ['without onRefused', { onRefused: undefined }],
    ['that onRefused throws at', failing(() => expect.fail('thrown'))],
    ['that onRefused rejects', failing(() => Promise.reject(new Error('rejected')))],
  ])('%s', async (_, options) => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => error.mockRestore());
    const { record, flush } = start(options);
    record(entryOf(1, { resource: 'orders' }));
    await flush();

    expect(error.mock.calls).toEqual([
      [
        'An audit entry was not stored:',
        { ...entryOf(1, { resource: 'orders' }), occurredAt: now },
        'FIELD_INVALID',
        expect.any(Error),
      ],
    ]);
  });
});

describe('A process', () => {
  /** Runs a script that has a trail. @returns its exit code and its output */
  const run = async (script: string) => {
    const code = `
      import { createTrail } from ${JSON.stringify(resolve('functions/client/server.ts'))};
      const trail = createTrail({ url: ${JSON.stringify(url)}, key: '${key}' });
      const entry = { action: 'READ', resource: 'shop.orders', result: 'SUCCESS', resourceId: '1' };
      ${script}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code]);
    const [output, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return [exitCode, output];
  };
  const throttle = (seconds: number): Fault => ({
    before: (response) => response.writeHead(429, { 'retry-after': String(seconds) }).end(),
  });

  it('that awaits flush ends when its entries are stored, also after a pause', async () => {
    state.faults.push(throttle(0));
    expect(await run('trail.record(entry); await trail.flush();')).toEqual([0, '']);
    expect([state.arrived.length, storedIds()]).toEqual([2, [1]]);
  });

  it('ends without a flush while the trail pauses', async () => {
    state.faults.push(throttle(3600));
    expect(await run('for (let i = 0; i < 25; i += 1) trail.record(entry);')).toEqual([0, '']);
    expect([state.arrived.length, storedIds()]).toEqual([1, []]);
  });
});
