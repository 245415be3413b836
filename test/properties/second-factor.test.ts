/** Random lives of accounts with a second factor, against a model of them. */
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Secret, TOTP } from 'otpauth';
import { afterAll, expect, it, vi } from 'vitest';
import { makeLinkToken, resetLink } from '../../lib/options/links/mailed-link.ts';
import { findStoredUser } from '../../lib/users/store.ts';
import { mailSettings } from '../support/mailbox.ts';
import { counted, holds } from '../support/runs.ts';
import { setFields } from '../support/stored-user.ts';
import { type Answer, startHandlers } from './handlers.ts';

const handlers = await startHandlers({
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
  ...mailSettings,
  SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const call = counted(handlers.call);

// The service's clock stands still unless a test moves it.
vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
afterAll(() => vi.useRealTimers());
const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

const period = 30;
const stepNow = () => Math.floor(Date.now() / 1000 / period);
const enrolmentTime = 600;

const send = (route: string, body: object, token?: string): Promise<Answer> =>
  call({
    route,
    headers: {
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify(body),
    sourceIp: '::1',
  });

const bodyOf = ({ text = '{}' }: Answer) => JSON.parse(text || '{}');

/** A code as somebody may send it: of the app, some steps from the present one; or another. */
type Given = number | 'recovery' | 'used recovery' | 'none' | 'garbage';
const given: fc.Arbitrary<Given> = fc.constantFrom(
  ...([-2, -1, 0, 0, 1, 2] as const),
  ...(['recovery', 'recovery', 'used recovery', 'none', 'none', 'garbage'] as const),
);

type Step = (life: Life) => unknown;

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom(0, 1, 29, 30, 90, 599, 601).map((seconds) => () => wait(seconds)),
  {
    weight: 6,
    arbitrary: fc.tuple(fc.nat(4), given).map(
      ([n, code]) =>
        (life: Life) =>
          life.logIn(n > 0, code),
    ),
  },
  fc.constant((life: Life) => life.enrol()),
  given.map((code) => (life: Life) => life.confirm(code)),
  fc.tuple(fc.constantFrom('renew' as const, 'remove' as const), fc.boolean(), given).map(
    ([what, isRight, code]) =>
      (life: Life) =>
        life.change(what, isRight, code),
  ),
  fc.constantFrom('off', 'optional', 'admins').map((setting) => () => {
    process.env.SECOND_FACTOR = setting;
  }),
  fc.constant((life: Life) => life.setPassword()),
  fc.constant((life: Life) => life.reset()),
  fc
    .constantFrom('admin' as const, 'user' as const)
    .map((role) => (life: Life) => setFields(life.id, { role })),
);

/** The status of each change of a factor. */
const done = { renew: 200, remove: 204 } as const;
/** Never right by chance: it has a digit too many. */
const wrong = { text: '0000000', isGood: false } as const;

interface Factor {
  readonly secret: string;
  last: number;
  codes: string[];
  readonly used: string[];
}

/** A code as it is sent, and whether it should be right. */
interface Sent {
  readonly text: string | undefined;
  readonly isGood: boolean;
}

/** An account, as it should be. */
class Life {
  readonly email = `${randomUUID()}@b`;
  id = 0;
  password = randomUUID();
  factor: Factor | undefined;
  pending: { secret: string; until: number } | undefined;

  async register(): Promise<void> {
    const json = { name: 'n', email: this.email, password: this.password };
    const { token } = bodyOf(await send('POST /api/auth/register', json));
    this.id = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).id;
  }

  get isAsked(): boolean {
    return process.env.SECOND_FACTOR !== 'off' && this.factor !== undefined;
  }

  /** What is sent for a code of the app, and whether it should be right; if so, it is used up. */
  useApp(ahead: number, secret: string): Sent {
    const { factor } = this;
    const at = stepNow() + ahead;
    const timestamp = at * period * 1000;
    const text = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
    const isOwn = secret === factor?.secret;
    const isGood = Math.abs(ahead) <= 1 && !(isOwn && at <= factor.last);
    if (isGood && isOwn) factor.last = at;
    return { text, isGood };
  }

  /** The same for any code. */
  use(code: Given, secret = this.factor?.secret): Sent {
    if (code === 'none') return { text: undefined, isGood: false };
    if (typeof code === 'number' && secret) return this.useApp(code, secret);
    const { codes = [], used = [] } = this.factor ?? {};
    const fresh = code === 'recovery' ? codes.pop() : undefined;
    if (fresh) used.push(fresh);
    return { text: used.at(-1) ?? 'no code', isGood: fresh !== undefined };
  }

  /** A session, by a code that was not used: whoever has the factor gets in. */
  async session(): Promise<string> {
    wait(3 * period);
    const { email, password } = this;
    const code = this.isAsked ? this.use(0).text : undefined;
    const answer = await send('POST /api/login', { email, password, code });
    expect(answer.status).toBe(200);
    return bodyOf(answer).token;
  }

  async logIn(isRight: boolean, code: Given): Promise<void> {
    const password = isRight ? this.password : 'wrong';
    const { text, isGood } = isRight && this.isAsked ? this.use(code) : { text: 'x', isGood: true };
    const answer = await send('POST /api/login', { email: this.email, password, code: text });
    const refused = text === undefined ? 'Code required' : 'Invalid code';
    expect([answer.status, bodyOf(answer).message]).toEqual(
      isRight && isGood
        ? [200, 'Login successful']
        : [401, isRight ? refused : 'Invalid credentials'],
    );
  }

  async enrol(): Promise<void> {
    const json = { currentPassword: this.password };
    const answer = await send('POST /api/second-factor', json, await this.session());
    expect(answer.status).toBe(this.factor ? 409 : 201);
    if (this.factor) return;
    this.pending = { secret: bodyOf(answer).secret, until: Date.now() / 1000 + enrolmentTime };
  }

  async confirm(code: Given): Promise<void> {
    const token = await this.session();
    const { pending, factor } = this;
    const isPending = pending !== undefined && pending.until > Date.now() / 1000;
    const { text, isGood } = factor ? wrong : this.use(code, pending?.secret);
    const answer = await send('PUT /api/second-factor', { code: text }, token);
    if (text === undefined) return expect(answer.status).toBe(400);
    if (factor) return expect(answer.status).toBe(409);
    if (!isPending) return expect(answer.status).toBe(404);
    expect(answer.status).toBe(isGood ? 200 : 403);
    if (!isGood) return;
    const last = stepNow() + Number(code);
    const codes: string[] = bodyOf(answer).recoveryCodes;
    this.factor = { secret: pending.secret, last, codes, used: [] };
    this.pending = undefined;
  }

  /** A code beside a password: with a wrong one, it is a wrong code. */
  useWith(isRight: boolean, code: Given): Sent {
    return isRight || code === 'none' ? this.use(code) : wrong;
  }

  async change(what: 'renew' | 'remove', isRight: boolean, code: Given): Promise<void> {
    const token = await this.session();
    const { factor } = this;
    const { text, isGood } = this.useWith(isRight, code);
    const json = { currentPassword: isRight ? this.password : 'wrong', code: text };
    const path = what === 'renew' ? 'recovery-codes' : 'removals';
    const answer = await send(`POST /api/second-factor/${path}`, json, token);
    if (text === undefined) return expect(answer.status).toBe(400);
    if (!factor) return expect(answer.status).toBe(404);
    expect(answer.status).toBe(isGood ? done[what] : 403);
    if (isGood && what === 'remove') this.factor = undefined;
    if (isGood && what === 'renew') {
      factor.used.push(...factor.codes);
      factor.codes = bodyOf(answer).recoveryCodes;
    }
  }

  async reset(): Promise<void> {
    this.password = randomUUID();
    const user = await findStoredUser(this.id);
    const token = user && (await makeLinkToken(resetLink(user)));
    const answer = await send('PUT /api/password-resets', { token, password: this.password });
    expect(answer.status).toBe(204);
  }

  async setPassword(): Promise<void> {
    const token = await this.session();
    const currentPassword = this.password;
    this.password = randomUUID();
    const json = JSON.stringify({ password: this.password, currentPassword });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await call({
      route: 'PUT /api/users/{id}',
      id: String(this.id),
      headers,
      body: json,
      sourceIp: '::1',
    });
    expect(answer.status).toBe(200);
  }
}

it('A user with a second factor can log in only with its codes, and only once with each code', async () => {
  await holds(
    150,
    fc.asyncProperty(fc.nat(3), fc.array(anyStep, { maxLength: 25 }), async (n, steps) => {
      process.env.SECOND_FACTOR = 'optional';
      const life = new Life();
      await life.register();
      if (n > 0) {
        await life.enrol();
        await life.confirm(0);
      }
      for (const step of steps) await step(life);
    }),
  );
});
