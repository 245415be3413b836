import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { providersFile } from '../../../../lib/ground/rules.ts';
import {
  audience,
  type Claims,
  type Issuer,
  makeKey,
  newPerson,
  startIssuer,
} from '../../../support/issuer.ts';
import { startLoopback } from '../../../support/loopback.ts';

const issuer = await startIssuer();
const foreign = await startIssuer();
const google = await startIssuer('https://accounts.google.com');
const person = newPerson({ name: 'Ada' });
const now = () => Math.floor(Date.now() / 1000);

/** Loads the modules as in a new process, which has cached nothing. */
const load = async () => {
  vi.resetModules();
  const { makeNonce } = await import('../../../../lib/keys/nonce.ts');
  const { forIdToken, verifyIdToken } = await import(
    '../../../../lib/options/identities/id-token.ts'
  );
  return { forIdToken, makeNonce, verifyIdToken };
};
let loaded: Awaited<ReturnType<typeof load>>;

const providers = JSON.stringify([
  { issuer: issuer.url, audiences: ['other', audience] },
  { issuer: foreign.url, audiences: [audience] },
  { issuer: google.url, audiences: ['app.apps.googleusercontent.com'] },
]);

beforeAll(() => {
  vi.stubEnv('JWT_SECRET', 'x'.repeat(40));
  vi.stubEnv('IDENTITY_PROVIDERS', providers);
  vi.spyOn(console, 'error').mockReturnValue();
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
beforeEach(async () => {
  vi.useRealTimers();
  loaded = await load();
});

type Make = (nonce: string) => Promise<string>;

/** The outcome of verifying a token that was made for a nonce of the service. */
const verify = async (make: Make, given?: string) => {
  const nonce = await loaded.makeNonce(loaded.forIdToken);
  return loaded.verifyIdToken({ idToken: await make(nonce), nonce: given ?? nonce });
};

const issue =
  (claims: Claims = {}, options: Parameters<Issuer['issue']>[1] = {}): Make =>
  (nonce) =>
    issuer.issue({ ...person, nonce, ...claims }, options);

const hmac: Make = async (nonce) => {
  const { jwk } = issuer.keys[0] ?? foreignKey;
  const pem = await exportSPKI((await importJWK(jwk, 'RS256')) as never);
  return new SignJWT({ ...person, nonce })
    .setProtectedHeader({ alg: 'HS256', kid: jwk.kid })
    .setIssuer(issuer.url)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(pem));
};

const unsigned: Make = async (nonce) =>
  new UnsecuredJWT({ ...person, nonce })
    .setIssuer(issuer.url)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('1h')
    .encode();

/** A token with a changed header and the original signature. */
const withHeader =
  (change: object): Make =>
  async (nonce) => {
    const [header = '', ...rest] = (await issue()(nonce)).split('.');
    const parsed = JSON.parse(Buffer.from(header, 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...parsed, ...change })).toString('base64url');
    return [other, ...rest].join('.');
  };

const foreignKey = await makeKey('RS256');
const ownKid = issuer.keys[0]?.kid ?? '';
const ofForeigner = { key: foreign.keys[0] };

describe('An ID token', () => {
  it('vouches for its subject and for the address and name in it', async () => {
    const { sub: subject, email } = person;

    expect(await verify(issue())).toEqual({ issuer: issuer.url, subject, email, name: 'Ada' });
    expect(await verify(issue({ aud: [audience] }))).toMatchObject({ subject });
    expect(await verify(issue({ aud: ['x', audience], azp: 'other' }))).toMatchObject({ subject });
  });

  it.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    [undefined, false],
    [1, false],
    ['TRUE', false],
  ])('with email_verified %j has an address: %s', async (email_verified, hasAddress) => {
    const vouched = await verify(issue({ email_verified }));

    expect(vouched?.subject).toBe(person.sub);
    expect(vouched?.email !== undefined).toBe(hasAddress);
  });

  it.each([
    [{ email: `${'x'.repeat(180)}@example.org` }, { subject: person.sub, name: 'Ada' }],
    [{ email: 'nobody' }, { subject: person.sub, name: 'Ada' }],
    [{ email: 7, name: 7 }, { subject: person.sub }],
    [{ email: '', name: ' ' }, { subject: person.sub }],
    [
      { email: 'a@example.org', name: 'x'.repeat(101) },
      { subject: person.sub, email: 'a@example.org' },
    ],
  ])(
    'with %j vouches for no address and no name that a user must not have',
    async (claims, vouched) => {
      expect(await verify(issue(claims))).toEqual({ issuer: issuer.url, ...vouched });
    },
  );

  it('may be signed by ES256', async () => {
    await issuer.rotate('ES256');

    expect((await verify(issue()))?.subject).toBe(person.sub);
    issuer.keys = issuer.keys.slice(1);
  });

  const forgeries: readonly (readonly [string, Make])[] = [
    ['of an issuer that is not trusted', issue({}, { issuer: 'https://issuer.example' })],
    ['of another issuer under its own name', issue({}, { issuer: foreign.url })],
    ['signed by the key of another issuer', issue({}, ofForeigner)],
    [
      'signed by an unknown key that has the kid of a known key',
      issue({}, { key: { ...foreignKey, kid: ownKid } }),
    ],
    ['for another audience', issue({ aud: 'nobody' })],
    ['for no audience', issue({ aud: undefined })],
    ['for several audiences, issued to another app', issue({ aud: [audience, 'x'], azp: 'x' })],
    [
      'for several audiences, without the app to which it was issued',
      issue({ aud: [audience, 'x'] }),
    ],
    ['that is not signed', unsigned],
    ['signed by a public key as a secret', hmac],
    ['that names another algorithm', withHeader({ alg: 'RS384' })],
    ['that names no algorithm', withHeader({ alg: 'none' })],
    ['that has critical parameters', withHeader({ crit: ['x'], x: 1 })],
    ['that brings its own key', withHeader({ jwk: foreignKey.jwk, kid: undefined })],
    ['that has expired', issue({ exp: now() - 61 })],
    ['without an expiry', issue({ exp: undefined })],
    ['that is more than ten minutes old', issue({ iat: now() - 661 })],
    ['without a time of issue', issue({ iat: undefined })],
    ['from the future', issue({ iat: now() + 120 })],
    ['that is not valid yet', issue({ nbf: now() + 120 })],
    ['for another nonce', issue({ nonce: 'x' })],
    ['for no nonce', issue({ nonce: undefined })],
    ['without a subject', issue({ sub: undefined })],
    ['with an empty subject', issue({ sub: '' })],
    ['with a subject of 256 characters', issue({ sub: 'x'.repeat(256) })],
    ['that is not a token', async () => 'x'],
    ['that is empty', async () => '..'],
  ];

  it.each(forgeries)('%s vouches for nobody', async (_, make) => {
    expect(await verify(make)).toBeUndefined();
  });

  it('is valid only with a nonce that this service has made, and for ten minutes', async () => {
    const nonce = await loaded.makeNonce(loaded.forIdToken);
    const idToken = await issuer.issue({ ...person, nonce });
    const at = (seconds: number) =>
      loaded.verifyIdToken({ idToken, nonce }, new Date((now() + seconds) * 1000));
    const verifyWith = async (own: string) =>
      loaded.verifyIdToken({ idToken: await issuer.issue({ ...person, nonce: own }), nonce: own });

    expect(await at(590)).toBeDefined();
    expect(await at(601)).toBeUndefined();
    // The last character of 32 bytes in base64url has two unused bits.
    const bytesOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url');
    const sameBytes = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
      .map((last) => nonce.slice(0, -1) + last)
      .filter((other) => other !== nonce && bytesOf(other).equals(bytesOf(nonce)));
    expect(sameBytes).toHaveLength(3);
    const other = await loaded.makeNonce({ ...loaded.forIdToken, purpose: 'other' });
    for (const one of [
      'x',
      other,
      nonce.replace(/^./, '2'),
      `${nonce.slice(0, -2)}AA`,
      ...sameBytes,
    ]) {
      expect(await verifyWith(one)).toBeUndefined();
    }
  });

  it('may have the nonce or its SHA-256 in hex, but no other digest of the nonce', async () => {
    const digest = (form: 'hex' | 'base64url') =>
      verify((nonce) => issue({ nonce: createHash('sha256').update(nonce).digest(form) })(nonce));

    expect(await digest('hex')).toBeDefined();
    expect(await digest('base64url')).toBeUndefined();
  });

  /** The claims that tokens of these issuers have, with invented values. */
  const shapes: readonly (readonly [string, Claims, object])[] = [
    [
      'Google',
      {
        azp: '123-android.apps.googleusercontent.com',
        sub: '110169484474386276334',
        hd: 'example.org',
        email: 'ada@example.org',
        email_verified: true,
        name: 'Ada King',
        picture: 'https://lh3.googleusercontent.com/a/x=s96-c',
        given_name: 'Ada',
        family_name: 'King',
      },
      { subject: '110169484474386276334', email: 'ada@example.org', name: 'Ada King' },
    ],
    [
      'Apple',
      {
        sub: '001999.0c1f2d3e4b5a69788796a5b4c3d2e1f0.0905',
        c_hash: 'mMYWkIJNAaLxSRKrwWYUCQ',
        email: 'x7k2m9q4@privaterelay.appleid.com',
        email_verified: 'true',
        is_private_email: 'true',
        auth_time: 1795428000,
        nonce_supported: true,
      },
      {
        subject: '001999.0c1f2d3e4b5a69788796a5b4c3d2e1f0.0905',
        email: 'x7k2m9q4@privaterelay.appleid.com',
      },
    ],
    [
      'Microsoft, without a statement that the address is verified',
      {
        ver: '2.0',
        sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
        oid: '6b9a1f0e-2d35-4c8b-9f57-0a1b2c3d4e5f',
        tid: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
        name: 'Ada King',
        preferred_username: 'ada@example.org',
        email: 'ada@example.org',
        uti: 'fqiBqXLPj0eQa82S-IYFAA',
        rh: '0.AXoAKtkv',
      },
      { subject: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ', name: 'Ada King' },
    ],
  ];

  it.each(shapes)('may have the shape of the tokens of %s', async (_, claims, vouched) => {
    const make: Make = (nonce) => issuer.issue({ nonce, ...claims });

    expect(await verify(make)).toEqual({ issuer: issuer.url, ...vouched });
  });

  it('is verified also by a list of providers in a file that the setting names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'providers-'));
    writeFileSync(join(folder, providersFile), providers);
    const before = process.cwd();
    process.chdir(folder);
    vi.stubEnv('IDENTITY_PROVIDERS', providersFile);
    onTestFinished(() => {
      vi.stubEnv('IDENTITY_PROVIDERS', providers);
      process.chdir(before);
      rmSync(folder, { recursive: true });
    });

    expect(await verify(issue())).toMatchObject({ subject: person.sub });
  });

  it.each(['https://accounts.google.com', 'accounts.google.com'])(
    'of Google that names its issuer %s counts as issued by https://accounts.google.com',
    async (name) => {
      const claims = { ...person, aud: 'app.apps.googleusercontent.com' };
      // Requests to the host of Google go to a server on this machine.
      const { handle } = NodeHttpHandler.prototype;
      const led = vi.spyOn(NodeHttpHandler.prototype, 'handle');
      led.mockImplementation(function (this: NodeHttpHandler, request, ...options) {
        const { protocol, hostname, port } = new URL(google.server);
        const isGoogle = request.hostname === new URL(google.url).hostname;
        if (isGoogle) Object.assign(request, { protocol, hostname, port: Number(port) });
        return handle.call(this, request, ...options);
      });
      onTestFinished(() => led.mockRestore());

      const vouched = await verify((nonce) => google.issue({ ...claims, nonce }, { issuer: name }));

      expect(vouched).toMatchObject({ issuer: google.url, subject: person.sub });
    },
  );

  it('may leave https:// out of the name of its issuer only if Google has issued it', async () => {
    const { namesOf, providerOf } = await import('../../../../lib/options/identities/id-token.ts');
    const [google] = ['https://accounts.google.com'];

    for (const name of [google, 'accounts.google.com']) {
      expect(providerOf(name)?.issuer).toBe(google);
    }
    expect(providerOf(issuer.url.replace('http://', ''))).toBeUndefined();
    expect(namesOf({ issuer: issuer.url })).toEqual([issuer.url]);
  });
});

describe('An issuer', () => {
  // biome-ignore format: a table
  const faulty: readonly (readonly [string, Parameters<typeof startLoopback>[0]])[] = [
    ['redirects to another server', (_, __, response) => response.writeHead(302, { location: issuer.url }).end()],
    ['does not respond', () => undefined],
    [
      'never ends its response',
      (_, __, response) => {
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
    [
      'sends megabytes',
      async ({ url = '' }, _, response) => {
        const document = { issuer: `http://${response.req.headers.host}`, jwks_uri: '' };
        const jwks_uri = `${document.issuer}/keys`;
        const keys = { keys: [foreignKey.jwk], padding: 'x'.repeat(1_000_000) };
        response.end(JSON.stringify(url === '/keys' ? keys : { ...document, jwks_uri }));
      },
    ],
    ['sends no JSON', (_, __, response) => response.end('<html>')],
    [
      'names its keys by another protocol than its own',
      async ({ url = '' }, _, response) => {
        const { host } = response.req.headers;
        const document = { issuer: `http://${host}`, jwks_uri: `ftp://${host}/keys` };
        response.end(JSON.stringify(url === '/keys' ? { keys: [foreignKey.jwk] } : document));
      },
    ],
    [
      'names another issuer',
      (_, __, response) =>
        response.end(JSON.stringify({ issuer: foreign.url, jwks_uri: `${foreign.url}/keys` })),
    ],
  ];

  it.each(faulty)('that %s counts as unreachable', async (_, answer) => {
    const { url, stop } = await startLoopback(answer);
    vi.stubGlobal('patience', 0.2);
    vi.stubEnv('IDENTITY_PROVIDERS', JSON.stringify([{ issuer: url, audiences: [audience] }]));
    onTestFinished(async () => {
      vi.unstubAllGlobals();
      vi.stubEnv('IDENTITY_PROVIDERS', providers);
      await stop();
    });

    const verified = verify(issue({}, { issuer: url, key: foreignKey }));

    await expect(verified).rejects.toMatchObject({ code: 'IDENTITY_PROVIDER_FAULT' });
  });

  it('that is for many tenants counts as unreachable, and the log says why', async () => {
    const { url, stop } = await startLoopback((_, __, response) => {
      const many = `http://${response.req.headers.host}/{tenantid}/v2.0`;
      response.end(JSON.stringify({ issuer: many, jwks_uri: `${many}/keys` }));
    });
    vi.stubEnv('IDENTITY_PROVIDERS', JSON.stringify([{ issuer: url, audiences: [audience] }]));
    onTestFinished(async () => {
      vi.stubEnv('IDENTITY_PROVIDERS', providers);
      await stop();
    });

    const { describeFault } = await import('../../../../lib/ground/log.ts');
    const fault = await verify(issue({}, { issuer: url, key: foreignKey })).catch(describeFault);

    expect(fault).toMatchObject({
      fault: 'ConfigError',
      message: `Environment variable IDENTITY_PROVIDERS must have a tenant's own issuer in place of ${url}, which is for many tenants`,
    });
  });

  it.each([
    ['a secret', { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }],
    ['a secret under the name of RS256', { kty: 'oct', k: 'c2VjcmV0', alg: 'RS256' }],
    ['an unreadable key', { kty: 'RSA', n: '!', e: 'AQAB', alg: 'RS256' }],
    ['a key without a modulus', { kty: 'RSA', alg: 'RS256' }],
  ])('whose only key is %s is not believed', async (_, jwk) => {
    const kid = 'one';
    const server: { url: string; stop(): Promise<void> } = await startLoopback(
      (request, _, response) =>
        response.end(
          JSON.stringify(
            request.url === '/keys'
              ? { keys: [jwk && { ...jwk, kid }] }
              : { issuer: server.url, jwks_uri: `${server.url}/keys` },
          ),
        ),
    );
    const { url, stop } = server;
    vi.stubEnv('IDENTITY_PROVIDERS', JSON.stringify([{ issuer: url, audiences: [audience] }]));
    onTestFinished(async () => {
      vi.stubEnv('IDENTITY_PROVIDERS', providers);
      await stop();
    });

    expect(await verify(issue({}, { issuer: url, key: { ...foreignKey, kid } }))).toBeUndefined();
  });
});

describe('The keys of an issuer', () => {
  const asked = (work: () => Promise<unknown>) => {
    issuer.asked.length = 0;
    return work().then(() => [...issuer.asked]);
  };
  const both = ['/.well-known/openid-configuration', '/keys'];

  it('are asked for once, however many tokens there are', async () => {
    const many = () => Promise.all(Array.from({ length: 5 }, () => verify(issue())));

    expect(await asked(many)).toEqual(both);
    expect(await asked(many)).toEqual([]);
  });

  it('are asked for anew each hour, and for an unknown key at most once a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
    await verify(issue());

    const unknown = issue({}, { key: foreignKey });
    expect(await asked(() => verify(unknown))).toEqual([]);
    pass(61);
    expect(await asked(() => verify(unknown))).toEqual(both);
    expect(await asked(() => verify(unknown))).toEqual([]);
    await issuer.rotate();
    expect(await verify(issue())).toBeUndefined();
    pass(61);
    expect(await verify(issue())).toBeDefined();
    pass(3600);
    expect(await asked(() => verify(issue()))).toEqual(both);
  });

  it('stay in use while the issuer is down, and without known keys the issuer is unreachable', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    await verify(issue());
    issuer.isDown = true;
    vi.setSystemTime(Date.now() + 3_700_000);

    expect(await verify(issue())).toBeDefined();
    loaded = await load();
    await expect(verify(issue())).rejects.toMatchObject({ code: 'IDENTITY_PROVIDER_FAULT' });
    issuer.isDown = false;
    expect(await verify(issue())).toBeDefined();
  });
});
