import { setTimeout as wait } from 'node:timers/promises';
import { jwtVerify } from 'jose';
import { type ApiAnswer, type ApiClient, uniqueEmail } from '../client.ts';
import type { Admin } from './deployment.ts';
import { requireThat } from './step.ts';

export interface RotationOptions {
  readonly api: ApiClient;
  readonly admin: Admin;
  readonly rotate: () => Promise<unknown>;
  /** The current value of the signing secret. */
  readonly readSecret: () => Promise<string>;
}

export interface RotationResult {
  readonly requests: number;
  /** Times that something was done again because the emulator's tables were late. */
  readonly late: number;
  /** Seconds from the rotation to the first token that the new version signed. */
  readonly switchedAfter: number;
  readonly tokens: { readonly signedByOld: number; readonly signedByNew: number };
}

/** Milliseconds between two rounds of traffic. */
const pause = 500;
/** Milliseconds for the new version to sign, which it is to do after two minutes. */
const switchTimeout = 240_000;
/** Tokens of the new version after which the old one is out of use. */
const enoughNewTokens = 10;

const isSignedBy = async (token: string, secret: string): Promise<boolean> => {
  const key = new TextEncoder().encode(secret);
  return jwtVerify(token, key).then(
    () => true,
    () => false,
  );
};

/** One request after the other to each function that verifies tokens. */
const useEverywhere = async (api: ApiClient, token: string): Promise<ApiAnswer[]> => {
  const user = { name: 'Some One', email: uniqueEmail(), password: 'a-password-of-some-length' };
  const created = await api('POST', '/api/users', { token, json: user });
  const path = `/api/users/${created.body?.id}`;
  return [
    created,
    await api('GET', '/api/profile', { token }),
    await api('GET', '/api/users?limit=1', { token }),
    await api('GET', path, { token }),
    await api('PUT', path, { token, json: { name: 'Another' } }),
    await api('GET', '/api/admin/audit-logs?limit=1', { token }),
    await api('DELETE', path, { token }),
  ];
};

const everywhere = '201 200 200 200 200 200 204';

const isRefusal = ({ status }: ApiAnswer) => status === 401 || status === 403;

/** Whether the service says that a table did not answer within its time limits. */
const isLate = ({ status, body }: ApiAnswer) =>
  status === 500 && /^Error .* (Abort|Timeout)Error$/.test(Object.values(body ?? {}).join(' '));

/** Times that tables may be late in one rotation: a machine that is too slow shows nothing. */
const lateLimit = 10;

/** Administrators who log in and use the tokens that they have got so far. */
const startTraffic = ({ api, admin }: RotationOptions) => {
  const tokens: string[] = [];
  const done = { requests: 0, late: 0 };

  /**
   * Requires answers of these statuses. A machine that stands still for some seconds makes the
   * emulator late, which a rotation has no part in: then, unless a token was refused, asks again.
   */
  const requireAnswers = async (expected: string, ask: () => Promise<ApiAnswer[]>) => {
    for (;;) {
      const answers = await ask();
      done.requests += answers.length;
      if (answers.map(({ status }) => status).join(' ') === expected) return answers;
      const areLate = answers.some(isLate) && !answers.some(isRefusal);
      if (areLate) done.late += 1;
      const got = answers.map(({ status, text }) => (status < 400 ? status : `${status} ${text}`));
      const complaint = `Answered ${got.join(', ')} instead of ${expected}`;
      requireThat(areLate && done.late <= lateLimit, complaint);
    }
  };

  const logInAndUse = async (): Promise<string> => {
    const logIn = async () => [await api('POST', '/api/login', { json: admin })];
    const [login] = await requireAnswers('200', logIn);
    const token: string = login?.body.token;
    tokens.push(token);
    const between = Math.floor(Math.random() * tokens.length);
    const used = [tokens[0], tokens[between], token].filter((some) => some !== undefined);
    await Promise.all(
      used.map((some) => requireAnswers(everywhere, () => useEverywhere(api, some))),
    );
    await wait(pause);
    return token;
  };
  const useAll = async (): Promise<void> => {
    for (const token of tokens) {
      await requireAnswers('200', async () => [await api('GET', '/api/profile', { token })]);
    }
  };
  return { tokens, done, logInAndUse, useAll };
};

/**
 * Rotates the signing secret while administrators log in and use tokens from before, during and
 * after, until the new version signs.
 * @throws {Error} as soon as a token is refused, a request fails otherwise than by late tables, or
 *   these are late too often, or when the new version does not sign in time
 */
export const rotateInTraffic = async (options: RotationOptions): Promise<RotationResult> => {
  const { tokens, done, logInAndUse, useAll } = startTraffic(options);
  const oldSecret = await options.readSecret();
  await logInAndUse();

  await options.rotate();
  const rotatedAt = Date.now();
  const newSecret = await options.readSecret();
  requireThat(newSecret !== oldSecret, 'The rotation left the secret as it was');

  let switchedAfter = 0;
  let signedByNew = 0;
  while (signedByNew < enoughNewTokens) {
    requireThat(Date.now() - rotatedAt < switchTimeout, 'The new version does not sign');
    const token = await logInAndUse();
    const signers = [await isSignedBy(token, oldSecret), await isSignedBy(token, newSecret)];
    requireThat(signers[0] !== signers[1], 'A token is verified by both versions, or by none');
    if (!signers[1]) continue;
    switchedAfter ||= (Date.now() - rotatedAt) / 1000;
    signedByNew += 1;
  }
  await useAll();
  const signedByOld = tokens.length - signedByNew;
  return { ...done, switchedAfter, tokens: { signedByOld, signedByNew } };
};
