import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { MailMessage } from '../../../../lib/options/mails/hand-over.ts';
import { startLoopback } from '../../../support/loopback.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { scan } from '../../../support/stored-items.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
let outcomes: (number | 'cut' | 'silence')[] = [];
let reached: () => void;
const { url: origin, stop } = await startLoopback((request, body, response) => {
  const { method, url, headers } = request;
  received.push({ method, url, headers, body });
  const outcome = outcomes.shift() ?? 202;
  if (outcome === 'silence') return reached();
  if (outcome === 'cut') return request.socket.destroy();
  return response.writeHead(outcome).end('{}');
});
const { host } = new URL(origin);
afterAll(() => {
  vi.unstubAllEnvs();
  return stop();
});

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'some secret' };
const path = '/2015-03-31/functions/mail/invocations';
const message: MailMessage = {
  kind: 'reset',
  email: 'ädа@example.org',
  request_id: 'r',
  ip_address: '192.0.2.1',
  user_agent: 'test',
  time: '2026-11-21T09:05:00.000Z',
};

/** Loads the modules as in a new process, which has handed nothing over yet. */
const handOver = async () => {
  const { requestMail, resetMessage } = await import('../../../../lib/options/mails/hand-over.ts');
  const { kind, time, email, ...source } = message;
  return requestMail(resetMessage(email, source));
};

beforeEach(() => {
  received.length = 0;
  outcomes = [];
  vi.resetModules();
  const environment = { ...credentials, AWS_REGION: 'eu-west-1', AWS_SESSION_TOKEN: '' };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubEnv('MAIL_FUNCTION_URL', `http://${host}${path}`);
  vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '0');
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(message.time) });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The signature of AWS Signature Version 4, computed from its specification. */
const signatureOf = ({ method, url, headers, body }: Received, signed: string): string => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const time = String(headers['x-amz-date']);
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, url, '', lines.join(''), signed, sha256(body)].join('\n');
  const scope = [time.slice(0, 8), 'eu-west-1', 'lambda', 'aws4_request'];
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${credentials.AWS_SECRET_ACCESS_KEY}`);
  return hmac(key, text).toString('hex');
};

describe('Handing a message over', () => {
  it('invokes the function asynchronously with the message', async () => {
    await handOver();

    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: path,
      headers: {
        host,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(JSON.stringify(message))),
        'x-amz-invocation-type': 'Event',
      },
    });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual(message);
  });

  it.each(['', 'some session'])('signs the whole request, with the session %j', async (session) => {
    vi.stubEnv('AWS_SESSION_TOKEN', session);

    await handOver();

    const [request] = received;
    const [, signed = '', signature] =
      /SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(request?.headers.authorization ?? '') ?? [];
    expect(signed.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-invocation-type']));
    expect(request && signatureOf(request, signed)).toBe(signature);
    expect(request?.headers['x-amz-security-token']).toBe(session || undefined);
  });

  it.each([400, 403, 404, 429, 500, 503, 200])(
    'fails after a second attempt if both attempts are answered %i',
    async (status) => {
      outcomes = [status, status];

      await expect(handOver()).rejects.toMatchObject({
        code: 'MAIL_FAULT',
        cause: { name: `Http${status}` },
      });

      expect(received).toHaveLength(2);
    },
  );

  it.each([500, 'cut'] as const)('succeeds with a second attempt after %s', async (outcome) => {
    outcomes = [outcome];

    await handOver();

    const [first, second] = received;
    expect(received).toHaveLength(2);
    expect(second?.body).toBe(first?.body);
  });

  it.each([5, 10])(
    'ends each of two attempts after %i s, one second for each unit of patience',
    async (patience) => {
      vi.stubGlobal('patience', patience);
      outcomes = ['silence', 'silence'];
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      reached = () => void vi.advanceTimersByTime(1000 * patience);

      const error = await handOver().catch((reason) => reason);
      vi.useRealTimers();

      expect(error).toMatchObject({ code: 'MAIL_FAULT', cause: { name: 'TimeoutError' } });
      expect(error.cause.message).toContain(`the configured ${1000 * patience} ms`);
      expect(received).toHaveLength(2);
    },
  );
});

describe('The notice of a deletion', () => {
  it.each([
    ['is handed over for a verified address', 'on', true, 1],
    ['is not handed over for an address that is not verified', 'on', false, 0],
    ['is handed over where addresses are not verified', 'off', undefined, 1],
  ])('%s', async (_, setting, email_verified, count) => {
    vi.stubEnv('EMAIL_VERIFICATION', setting);
    const { tryToNotify } = await import('../../../../lib/options/mails/hand-over.ts');

    await tryToNotify({ id: 1, email: 'ada@example.org', email_verified }, ['account'], message);

    expect(received).toHaveLength(count);
  });
});

describe('A reminder to verify an address', () => {
  it.each([
    ['is handed over where addresses are verified', 'on', false, 1],
    ['is not handed over for an address that is verified', 'on', true, 0],
    ['is not handed over where addresses are not verified', 'off', false, 0],
  ])('%s', async (_, setting, email_verified, count) => {
    vi.stubEnv('EMAIL_VERIFICATION', setting);
    const { tryToRemind } = await import('../../../../lib/options/mails/hand-over.ts');

    await tryToRemind({ id: 1, email: 'ada@example.org', email_verified }, message);

    expect(received).toHaveLength(count);
  });
});

describe('The mails for which a source asks', () => {
  it('are limited to twenty in each quarter of an hour, however many are requested at the same time', async () => {
    const { users } = await useOwnTables();
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '1');
    const { requestMail, resetMessage } = await import(
      '../../../../lib/options/mails/hand-over.ts'
    );
    const noon = Date.parse('2026-11-21T12:00:00Z');
    /** How many of thirty messages are handed over, some seconds after noon. */
    const allowed = async (ip_address: string, second: number) => {
      vi.setSystemTime(noon + 1000 * second);
      received.length = 0;
      const source = { ip_address, user_agent: '', request_id: 'r' };
      await Promise.all(
        Array.from({ length: 30 }, () => requestMail(resetMessage(message.email, source))),
      );
      return received.length;
    };

    const counts = [
      await allowed('2001:db8:1:2::3', 0),
      await allowed('2001:db8:1:2::4', 899),
      await allowed('2001:db8:1:3::3', 899),
      await allowed('2001:db8:1:2::3', 900),
    ];

    expect(counts).toEqual([20, 0, 20, 20]);
    expect(await scan(inject('engine'), users)).toContainEqual({
      pk: `attempts#mail#address#2001:db8:1:2::/64#other#${noon / 900_000}`,
      mails: 20,
      expires_at: noon / 1000 + 900,
    });
  });
});
