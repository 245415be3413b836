/**
 * Where accounts are private and addresses verified, whatever users do, they see the same whether an address
 * that they ask about is free or taken.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { afterAll, expect, it, vi } from 'vitest';
import { handler as sendMail } from '../../functions/background/send-mail.ts';
import { invitedFrom } from '../../lib/options/invitations/invitation.ts';
import { countForSource } from '../../lib/options/mails/sources.ts';
import { unmatchableHash } from '../../lib/users/user.ts';
import { mailSettings, startMailbox, tokenIn, verifyUrl } from '../support/mailbox.ts';
import { counted, holds } from '../support/runs.ts';
import { setFields } from '../support/stored-user.ts';
import { type Answer, type Call, startHandlers } from './handlers.ts';

const mailbox = await startMailbox();
const handlers = await startHandlers({
  ...mailSettings,
  ...mailbox.environment,
  ...mailbox.handOver,
  VERIFY_URL: verifyUrl,
  EMAIL_VERIFICATION: 'required',
  ACCOUNTS: 'private',
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
});
const call = counted(handlers.call);

// The service's clock stands still unless a step moves it.
vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
afterAll(async () => {
  vi.useRealTimers();
  await mailbox.stop();
});

/** Two addresses whose mails the user reads, and the one that the user asks about. */
const addresses = ['first', 'second', 'probe'] as const;
const address = fc.constantFrom(...addresses);
/** Which of the mailed links, used ones included: the oldest, or any. */
const link = fc.oneof(fc.constant(0), fc.nat(99));
const isRight = fc.nat(5).map((n) => n > 0);
const newPassword = fc.constantFrom('one', 'two');

const kind = <Kind extends string>(...kinds: readonly [Kind, ...Kind[]]) =>
  fc.constantFrom(...kinds);
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const step = fc.oneof(
  weighted(30, fc.record({ kind: kind('move'), address, isRight })),
  weighted(18, fc.record({ kind: kind('verify'), link, isRight })),
  weighted(3, fc.record({ kind: kind('reset'), link, newPassword })),
  weighted(4, fc.record({ kind: kind('wait'), seconds: fc.constantFrom(1, 61, 1801, 3601) })),
  weighted(6, fc.record({ kind: kind('log in', 'register'), address, isRight })),
  weighted(4, fc.record({ kind: kind('ask for reset', 'look for'), address })),
  weighted(4, fc.record({ kind: kind('ask for link') })),
  weighted(4, fc.record({ kind: kind('profile', 'get', 'list', 'sessions', 'rename') })),
  weighted(4, fc.record({ kind: kind('refresh', 'end others', 'log out') })),
  fc.record({ kind: kind('set password'), newPassword, isRight }),
  fc.record({ kind: kind('leave'), isRight }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Action = Exclude<Step, { kind: 'wait' }>;
type Request = readonly [route: string, json?: object | undefined, query?: Call['query']];

/** The users so far, and the messages to the function that mails that it has got. */
let [users, delivered] = [0, 0];

/** A user, and what the user has got. */
class Asker {
  readonly emails = addresses.map((name) => `${name}-${randomUUID()}@example.org`);
  readonly sourceIp: string;
  /** The tokens of the links that came to the two addresses. */
  readonly links = { verify: [] as string[], reset: [] as string[] };
  password: string;
  id = '';
  token = '';
  refreshToken = '';

  constructor(password = 'one') {
    this.password = password;
    users += 1;
    this.sourceIp = `10.${users >> 16}.${(users >> 8) & 255}.${users & 255}`;
  }

  requestOf(step: Action): Request {
    const { refreshToken } = this;
    const password = 'isRight' in step && !step.isRight ? 'wrong' : this.password;
    const email = 'address' in step ? this.emails[addresses.indexOf(step.address)] : undefined;
    const newPassword = 'newPassword' in step ? step.newPassword : undefined;
    const links = step.kind === 'reset' ? this.links.reset : this.links.verify;
    const token = 'link' in step ? (links[step.link % links.length] ?? 'none') : undefined;
    const own = 'PUT /api/users/{id}';
    const requests = {
      move: [own, { email, currentPassword: password }],
      verify: ['PUT /api/email-verifications', { token, password }],
      reset: ['PUT /api/password-resets', { token, password: newPassword }],
      'log in': ['POST /api/login', { email, password }],
      register: ['POST /api/auth/register', { name: 'Ada', email, password }],
      'ask for reset': ['POST /api/password-resets', { email }],
      'look for': ['GET /api/users', undefined, { email: String(email) }],
      profile: ['GET /api/profile'],
      get: ['GET /api/users/{id}'],
      list: ['GET /api/users'],
      sessions: ['GET /api/users/{id}/sessions'],
      rename: [own, { name: 'Grace' }],
      'ask for link': ['POST /api/email-verifications'],
      refresh: ['POST /api/refresh', { refreshToken }],
      'end others': ['DELETE /api/users/{id}/sessions'],
      'log out': ['POST /api/logout'],
      'set password': [own, { password: newPassword, currentPassword: password }],
      leave: ['POST /api/account-deletions', { currentPassword: password }],
    } as const satisfies Readonly<Record<string, Request>>;
    return requests[step.kind];
  }

  /** Sends a request, and has all mails sent that follow. @returns all that the user sees */
  async take(step: Action): Promise<string> {
    const [route, json, query] = this.requestOf(step);
    const headers = {
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
    };
    const { id, sourceIp } = this;
    const body = json && JSON.stringify(json);
    const answer = await call({ route, headers, id, query, body, sourceIp });
    this.keep(step, answer);
    return this.withoutOwn(JSON.stringify([answer, await this.mails()]));
  }

  keep(step: Step, { status, text }: Answer): void {
    if (status >= 300) return;
    if ('newPassword' in step) this.password = step.newPassword;
    const { token, refreshToken } = JSON.parse(text || '{}');
    if (token) Object.assign(this, { token, refreshToken, id: String(decodeJwt(token).id) });
  }

  /** Has all mails sent that were asked for. @returns those that the user reads */
  async mails() {
    const before = mailbox.mails.length;
    // Each request has an id of its own.
    const messages = mailbox.messages.slice(delivered);
    delivered += messages.length;
    for (const message of messages) await sendMail({ ...message, request_id: randomUUID() });
    const [first = '', second = ''] = this.emails;
    const read = mailbox.mails
      .slice(before)
      .filter(({ to }) => to.includes(first) || to.includes(second));
    for (const mail of read.filter(({ text }) => text.includes('#token='))) {
      this.links[mail.text.includes(verifyUrl) ? 'verify' : 'reset'].push(tokenIn(mail));
    }
    return read;
  }

  /** A text without what differs between any two users. */
  withoutOwn(text: string): string {
    const named = addresses.reduce(
      (rest, name, i) => rest.replaceAll(this.emails[i] ?? '', name),
      text.replaceAll(this.sourceIp, 'IP'),
    );
    return named
      .replaceAll(/#token=[\w.-]+/g, '#token=TOKEN')
      .replaceAll(/\\"(token|refreshToken|id)\\":(\\"[^"]+\\"|\d+)/g, '"$1":"…"');
  }
}

const begin: readonly Action[] = [
  { kind: 'register', address: 'first', isRight: true },
  { kind: 'verify', link: 0, isRight: true },
  { kind: 'log in', address: 'first', isRight: true },
];

/** The fields of a user who is invited, and has no password. */
const invited = () => ({
  ...invitedFrom(),
  password_hash: unmatchableHash(),
  email_verified: false,
});

/** What differs between one case and another, beside the steps of the users. */
interface Case {
  /** Those of the holder of the address: who has only been invited, or not. */
  readonly holderFields: object;
  /** Whether the addresses of the users are verified. */
  readonly isVerified: boolean;
  /** The mails that their sources have asked for before. */
  readonly asked: number;
}

/** Has one user ask about a free address, and another one about a taken one, who must see the same. */
const expectTheSame = async (steps: readonly Step[], { holderFields, isVerified, asked }: Case) => {
  const [holder, ofFree, ofTaken] = [new Asker('holder'), new Asker(), new Asker()];
  holder.emails[0] = ofTaken.emails[2] ?? '';
  for (const one of begin) await holder.take(one);
  await setFields(Number(holder.id), holderFields);
  for (const one of begin) expect(await ofTaken.take(one), one.kind).toBe(await ofFree.take(one));
  for (const { id, sourceIp: ip_address } of [ofFree, ofTaken]) {
    await setFields(Number(id), { email_verified: isVerified });
    const source = { ip_address, user_agent: 'test', request_id: 'r' };
    for (let i = 0; i < asked; i += 1) await countForSource('other', source);
  }
  for (const one of steps) {
    if (one.kind === 'wait') vi.setSystemTime(Date.now() + one.seconds * 1000);
    else expect(await ofTaken.take(one), one.kind).toBe(await ofFree.take(one));
  }
};

it('Nobody learns whether an address has an account, or is invited', async () => {
  await holds(
    40,
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }),
      fc.constantFrom({}, invited()),
      fc.boolean(),
      fc.constantFrom(0, 18, 19),
      (steps, holderFields, isVerified, asked) =>
        expectTheSame(steps, { holderFields, isVerified, asked }),
    ),
  );
});

it('The limits of mails that users may see do not reveal whether an address has an account', async () => {
  // The next quarter of an hour of the clock begins.
  vi.setSystemTime(Math.ceil(Date.now() / 900_000) * 900_000);
  const register = { kind: 'register', address: 'probe', isRight: true } as const;
  const move = { kind: 'move', address: 'probe', isRight: true } as const;
  const moveBack = { kind: 'move', address: 'first', isRight: true } as const;
  const askForLink = { kind: 'ask for link' } as const;
  const wait = (seconds: 61 | 1801) => ({ kind: 'wait', seconds }) as const;
  const steps = [
    ...[wait(61), register, askForLink, register, askForLink],
    ...[wait(1801), move, moveBack, askForLink, move, moveBack, askForLink],
  ];

  await expectTheSame(steps, { holderFields: {}, isVerified: false, asked: 19 });
});
