/**
 * An OpenID Connect issuer on this machine, and the requests that an app sends with its ID tokens. Its path `/token`,
 * which real issuers do not have, issues a token with the claims of the query, as an app would get it by an SDK.
 */
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll } from 'vitest';
import type { AcceptanceService } from './acceptance.ts';
import type { ApiAnswer, ApiClient } from './client.ts';
import { startLoopback } from './loopback.ts';
import { type MailingService, mailingServiceForThisFile } from './mailbox.ts';

/** The claims of a token; undefined ones are left out. */
export type Claims = Readonly<Record<string, unknown>>;

export const audience = 'app.example.com';

/** A key, which an issuer may publish or not. */
export const makeKey = async (alg: string) => {
  const kid: string = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
};
type Key = Awaited<ReturnType<typeof makeKey>>;

export interface Issuer {
  /** The name of the issuer, which is the address of its server unless another name is given. */
  readonly url: string;
  readonly server: string;
  /** The paths of the requests. */
  readonly asked: string[];
  /** The keys; the first key signs. */
  keys: readonly Key[];
  /** Whether the issuer responds with errors only. */
  isDown: boolean;
  /** Issues an ID token. */
  issue(
    claims: Claims,
    with_?: { key?: Pick<Key, 'alg' | 'kid' | 'privateKey'> | undefined; issuer?: string },
  ): Promise<string>;
  rotate(alg?: string): Promise<void>;
}

export const startIssuer = async (name?: string): Promise<Issuer> => {
  const { url: server, stop } = await startLoopback((request, _, response) => {
    issuer.asked.push(request.url ?? '');
    if (issuer.isDown) return response.writeHead(503).end();
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    if (pathname === '/token') {
      response.setHeader('access-control-allow-origin', '*');
      const claims = { email_verified: true, ...Object.fromEntries(searchParams) };
      return issuer.issue(claims).then((token) => response.end(token));
    }
    const isKeys = request.url === '/keys';
    const body = isKeys
      ? { keys: issuer.keys.map(({ jwk }) => jwk) }
      : { issuer: url, jwks_uri: `${url}/keys` };
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  });
  afterAll(stop);
  const url = name ?? server;
  const issuer: Issuer = {
    url,
    server,
    asked: [],
    keys: [await makeKey('RS256')],
    isDown: false,
    issue: (claims, { key = issuer.keys[0] as Key, issuer: iss = url } = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss, aud: audience, iat: now, exp: now + 3600, ...claims };
      return new SignJWT(JSON.parse(JSON.stringify(all)))
        .setProtectedHeader({ alg: key.alg, kid: key.kid })
        .sign(key.privateKey);
    },
    rotate: async (alg = 'RS256') => {
      issuer.keys = [await makeKey(alg), ...issuer.keys];
    },
  };
  return issuer;
};

/** A person whom an issuer knows. */
export const newPerson = (fields: Claims = {}) => {
  const sub: string = randomUUID();
  return { sub, email: `${sub}@example.org`, email_verified: true, ...fields };
};

/** The requests that an app sends to an issuer and to the service. */
export const identityClient = (api: ApiClient, issuer: Issuer) => {
  const newNonce = async (): Promise<string> => (await api('POST', '/api/login/nonces')).body.nonce;
  /** An ID token, and the nonce for which it was issued. */
  const proofOf = async (claims: Claims) => {
    const nonce = await newNonce();
    return { idToken: await issuer.issue({ nonce, ...claims }), nonce };
  };
  const send = (json: object, headers = {}): Promise<ApiAnswer> =>
    api('POST', '/api/login/identity', { json, headers });
  return {
    newNonce,
    proofOf,
    send,
    signIn: async (person: Claims, fields: object = {}, headers = {}): Promise<ApiAnswer> =>
      send({ ...(await proofOf(person)), ...fields }, headers),
    link: async (token: string, person: Claims, fields: object): Promise<ApiAnswer> =>
      api('POST', '/api/identities', { token, json: { ...(await proofOf(person)), ...fields } }),
    identitiesOf: async (token: string) =>
      (await api('GET', '/api/identities', { token })).body.data,
  };
};

/** The settings with which users of an issuer log in. */
export const identitySettings = ({ url }: Pick<Issuer, 'url'>) => ({
  SESSION_DAYS: '90',
  IDENTITY_PROVIDERS: JSON.stringify([{ issuer: url, audiences: [audience] }]),
  LOGIN_FAILURES_PER_ADDRESS: '0',
});

export type IdentityService = MailingService &
  AcceptanceService &
  ReturnType<typeof identityClient>;

/** A service whose users log in with an issuer, for the tests of one file. */
export const identityServiceForThisFile = async (
  issuer: Issuer,
  environment: Readonly<Record<string, string>> = {},
): Promise<IdentityService> => {
  const service = await mailingServiceForThisFile({ ...identitySettings(issuer), ...environment });
  return { ...service, ...identityClient(service.api, issuer) };
};
