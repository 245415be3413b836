import { setTimeout as wait } from 'node:timers/promises';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { type ApiAnswer, type ApiClient, uniqueEmail } from '../support/client.ts';
import { type Admin, type Deployment, operate } from './deployment.ts';
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
  /** Seconds from the rotation to the first token that the new version signed. */
  readonly switchedAfter: number;
  readonly tokens: { readonly signedByOld: number; readonly signedByNew: number };
}

/** Milliseconds between two rounds of requests. */
const pause = 500;
/** Milliseconds within which the new version must sign, which it should do after two minutes. */
const switchTimeout = 240_000;
/** After this many tokens of the new version, the old version is considered unused. */
const enoughNewTokens = 10;

const isSignedBy = async (token: string, secret: string): Promise<boolean> => {
  const key = new TextEncoder().encode(secret);
  return jwtVerify(token, key).then(
    () => true,
    () => false,
  );
};

/** Sends one request after the other to each function that verifies tokens. */
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

const statusesEverywhere = '201 200 200 200 200 200 204';

/** @throws {Error} quoting the responses, when their statuses differ from the expected ones */
const requireAnswers = (answers: readonly ApiAnswer[], expected: string): void => {
  const statuses = answers.map(({ status }) => status).join(' ');
  const got = answers.map(({ status, text }) => (status < 400 ? status : `${status} ${text}`));
  requireThat(statuses === expected, `Answered ${got.join(', ')} instead of ${expected}`);
};

/** Administrators who log in and use the tokens that they have so far. */
const startTraffic = ({ api, admin }: Pick<RotationOptions, 'api' | 'admin'>) => {
  const tokens: string[] = [];
  const done = { requests: 0 };
  /** Uses the first token, the newest token and a token between them. */
  const useTokens = async (): Promise<void> => {
    const between = Math.floor(Math.random() * tokens.length);
    const used = [tokens[0], tokens[between], tokens.at(-1)].filter((some) => some !== undefined);
    for (const answers of await Promise.all(used.map((token) => useEverywhere(api, token)))) {
      requireAnswers(answers, statusesEverywhere);
      done.requests += answers.length;
    }
  };
  const logInAndUse = async (): Promise<string> => {
    const login = await api('POST', '/api/login', { json: admin });
    requireAnswers([login], '200');
    const { token } = login.body;
    tokens.push(token);
    done.requests += 1;
    await useTokens();
    await wait(pause);
    return token;
  };
  const useAll = async (): Promise<void> => {
    for (const token of tokens) {
      requireAnswers([await api('GET', '/api/profile', { token })], '200');
      done.requests += 1;
    }
  };
  return { tokens, done, logInAndUse, useAll };
};

/**
 * Rotates the signing secret while administrators log in and use tokens from before, during and after the rotation,
 * until the new version signs.
 * @throws {Error} as soon as a request is refused or fails, or when the new version does not sign in time
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
  return { requests: done.requests, switchedAfter, tokens: { signedByOld, signedByNew } };
};

/** Milliseconds until functions may use a key, and until all functions use a key that signs; and some more. */
const keyDelay = 310_000;

/** Milliseconds between two logins: a user may have about fifty sessions, and each login begins one. */
const betweenSessions = 25_000;

/** The key and the alias that the command has made do not belong to the stack, which would leave them behind. */
const removeKeys = async ({ place: { call }, stackName }: Deployment) => {
  const { Aliases } = await call('kms', 'list_aliases');
  for (const { AliasName, TargetKeyId: KeyId } of Aliases) {
    const isOfStack = AliasName.includes(stackName) && AliasName.includes('/token-signing-');
    if (!isOfStack) continue;
    await call('kms', 'delete_alias', { AliasName });
    await call('kms', 'schedule_key_deletion', { KeyId });
  }
};

/**
 * Rotates the key of tokens in the same way, without waiting for the expiry of tokens and of other services' caches.
 */
export const rotateKey = async (deployment: Deployment, admin: Admin): Promise<string> => {
  const { tokens, done, logInAndUse, useAll } = startTraffic({ api: deployment.api, admin });
  const kids = new Set<string | undefined>();
  const goOn = async (kept: number) => {
    for (const end = Date.now() + kept; Date.now() < end; ) {
      kids.add(decodeProtectedHeader(await logInAndUse()).kid);
      await wait(betweenSessions);
    }
    return kids.size;
  };
  await operate(deployment, ['rotate-signing-key']);
  requireThat((await goOn(keyDelay)) === 1, 'A key signs that is only published');
  await operate(deployment, ['rotate-signing-key', '--sign', '--now']);
  requireThat((await goOn(keyDelay)) === 2, 'The new key does not sign');
  await useAll();
  // Functions change to the new key one by one: its first tokens are mixed with the last tokens of the old key.
  const isOld = (token: string) => decodeProtectedHeader(token).kid === [...kids][0];
  const old = tokens.filter(isOld);
  tokens.splice(0, Number.POSITIVE_INFINITY, ...tokens.filter((token) => !isOld(token)));
  await operate(deployment, ['rotate-signing-key', '--retire', '--now']);
  requireThat((await goOn(keyDelay)) === 2, 'Another key signs');
  for (const token of old) {
    requireAnswers([await deployment.api('GET', '/api/profile', { token })], '401');
  }
  await removeKeys(deployment);
  const used = old.length + tokens.length;
  return `${done.requests} requests with ${used} tokens, none refused`;
};
