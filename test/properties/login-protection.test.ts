import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, expect, inject, it, vi } from 'vitest';
import { counted, holds } from '../support/runs.ts';
import { scanAudit } from '../support/stored-items.ts';
import { expectSound } from './answers.ts';
import { type Answer, startHandlers } from './handlers.ts';

const limits = { account: 3, address: 6 } as const;
const handlers = await startHandlers({
  LOGIN_FAILURES_PER_ACCOUNT: String(limits.account),
  LOGIN_FAILURES_PER_ADDRESS: String(limits.address),
});
const call = counted(handlers.call);

// The service's clock stands still unless a test moves it.
vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
afterAll(() => vi.useRealTimers());
const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

/** Seconds: within which failures add up, and the shortest wait. */
const window = 900;
const firstWait = 30;

interface Guess {
  /** Which of three accounts, the last of which nobody has registered. */
  readonly account: number;
  /** From which of two addresses. */
  readonly address: number;
  readonly right: boolean;
  /** How often at the same time. */
  readonly times: number;
  /** Seconds before it. */
  readonly pause: number;
}

const guess: fc.Arbitrary<Guess> = fc.record({
  account: fc.nat(2),
  address: fc.nat(1),
  right: fc.nat(5).map((n) => n === 0),
  times: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5 })),
  pause: fc.constantFrom(0, 0, 0, 0, 0, 1, 29, 30, 60, 899, 901, 3000),
});

const post = (path: string, body: object, sourceIp: string): Promise<Answer> =>
  call({
    route: `POST /api/${path}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    sourceIp,
  });

/** Accounts and addresses that no other run has used. */
const makeScene = async () => {
  const accounts = Array.from({ length: 3 }, () => ({
    name: 'n',
    email: `${randomUUID()}@b`,
    password: randomUUID(),
  }));
  const addresses = [0, 1].map(
    () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`,
  );
  for (const account of accounts.slice(0, 2)) await post('auth/register', account, '::1');
  const send = async ({ account, address, right }: Guess): Promise<Answer> => {
    const { email = '', password = '' } = accounts[account] ?? {};
    const body = { email, password: right ? password : 'wrong' };
    const answer = await post('login', body, addresses[address] ?? '');
    expectSound(answer, right ? [] : [password]);
    return answer;
  };
  return send;
};

const isRefused = ({ status }: Answer) => status === 429;
const isFailed = ({ status }: Answer) => status === 401 || status === 404;
const retryAfter = ({ headers }: Answer) => Number(headers['Retry-After']);

/** What one account or one address has seen: attempts that were looked at, and failures told. */
interface Subject {
  readonly limit: number;
  attempts: number;
  /** Milliseconds since 1970, ascending. */
  readonly failures: number[];
}

const makeSubject = (limit: number): Subject => ({ limit, attempts: 0, failures: [] });

/** The most failures that were told within some seconds of each other. */
const mostWithin = ({ failures }: Subject, seconds: number): number => {
  const following = (from: number) =>
    failures.filter((time) => time >= from && time < from + seconds * 1000).length;
  return Math.max(0, ...failures.map(following));
};

const expectBounded = (subject: Subject): void => {
  const { limit } = subject;
  const [first = 0] = subject.failures;
  const early = subject.failures.filter((time) => time < first + firstWait * 1000);
  expect(early.length).toBeLessThanOrEqual(limit);
  // One window may end and the next begin within such a span.
  expect(mostWithin(subject, firstWait)).toBeLessThan(2 * limit);
  // Waits of 30, 60, 120, 240 and 480 s allow for one more failure each.
  expect(mostWithin(subject, window)).toBeLessThan(2 * limit + 5);
};

const enter = (subject: Subject, answers: readonly Answer[]): void => {
  subject.attempts += answers.length;
  subject.failures.push(...answers.filter(isFailed).map(() => Date.now()));
};

const isUsedUp = ({ attempts, limit }: Subject) => attempts >= limit;

/** Enters attempts made at the same time, by one account from one address; each has its reason. */
const judge = (subjects: readonly [Subject, Subject], answers: readonly Answer[]): void => {
  const mustWait = subjects.some(isUsedUp);
  const allRefused = answers.every(isRefused);
  // One of them may take the account's last place, and another one the address's.
  const collided = allRefused && !mustWait && answers.length > 1;
  if (!allRefused || collided) for (const subject of subjects) enter(subject, answers);
  if (answers.some(isRefused)) {
    expect(subjects.filter(isUsedUp).length).toBeGreaterThanOrEqual(collided ? 2 : 1);
  }
  for (const subject of subjects) expectBounded(subject);
};

const countEntries = async () => (await scanAudit(inject('engine'), handlers.auditTable)).length;

/** Once a wait has refused somebody, further refusals leave no entry. */
const expectWait = async (send: (guess: Guess) => Promise<Answer>, tried: Guess) => {
  const first = await send(tried);
  const entries = await countEntries();
  const again = await send(tried);
  expect([first, again].map(isRefused)).toEqual([true, true]);
  expect(await countEntries()).toBe(entries);
  expect(retryAfter(again)).toBe(retryAfter(first));
  expect(retryAfter(first)).toBeGreaterThanOrEqual(1);
  expect(retryAfter(first)).toBeLessThanOrEqual(window);
};

const expectEndOfWait = async (send: (guess: Guess) => Promise<Answer>, account: number) => {
  const right = { account, address: 0, right: true, times: 1, pause: 0 };
  const first = await send(right);
  if (isRefused(first)) wait(retryAfter(first));
  expect((await send(right)).status).toBe(200);
};

const expectProtected = async (guesses: readonly Guess[]) => {
  const send = await makeScene();
  const accounts = new Map<number, Subject>();
  const addresses = new Map<number, Subject>();
  for (const made of guesses) {
    wait(made.pause);
    const account = accounts.get(made.account) ?? makeSubject(limits.account);
    const address = addresses.get(made.address) ?? makeSubject(limits.address);
    const answers = await Promise.all(Array.from({ length: made.times }, () => send(made)));

    judge([account, address], answers);
    if (answers.some(isRefused)) await expectWait(send, made);
    const reset = answers.some(({ status }) => status === 200);
    accounts.set(made.account, reset ? makeSubject(limits.account) : account);
    addresses.set(made.address, address);
  }
  for (const account of [0, 1]) await expectEndOfWait(send, account);
};

// Found by the property: neither limit was reached before, and each of the five is refused.
it('Simultaneous attempts that reach both limits are bounded and refused in the same way', async () => {
  const at = { account: 2, address: 0, right: true, pause: 0 };
  const guesses = [
    { account: 0, address: 0, right: false, times: 4, pause: 0 },
    { ...at, times: 1, pause: 29 },
    { ...at, times: 5 },
  ];

  for (let round = 0; round < 10; round += 1) {
    await expectProtected(guesses);
    wait(2 * window);
  }
});

it('Guesses are bounded, a wait is announced and ends, and users who do not guess never wait', async () => {
  const guesses = fc.array(guess, { minLength: 1, maxLength: 25, size: 'max' });

  await holds(12, fc.asyncProperty(guesses, expectProtected));
});

it('Right passwords among wrong ones never allow more guesses than the limit for each success', async () => {
  const isRight = fc.nat(4).map((n) => n === 0);
  const batches = fc.array(fc.array(isRight, { minLength: 2, maxLength: 20, size: 'max' }), {
    minLength: 1,
    maxLength: 4,
  });
  const property = fc.asyncProperty(batches, async (all) => {
    const send = await makeScene();
    for (const batch of all) {
      const guesses = batch.map((right) => ({ account: 0, address: 0, right, times: 1, pause: 0 }));
      const answers = await Promise.all(guesses.map(send));

      const statuses = answers.map(({ status }) => status);
      for (const [i, status] of statuses.entries()) {
        expect(batch[i] ? [200, 429] : [401, 429]).toContain(status);
      }
      const successes = statuses.filter((status) => status === 200).length;
      const failures = statuses.filter((status) => status === 401).length;
      expect(failures).toBeLessThanOrEqual(limits.account * (successes + 1));
      wait(2 * window);
    }
    await expectEndOfWait(send, 0);
  });

  await holds(15, property);
});
