/**
 * The issuers whose ID tokens are accepted, and the keys that they publish: found by their discovery
 * documents (OpenID Connect Discovery 1.0, section 4), and cached in this process.
 */
import { readFileSync } from 'node:fs';
import { createLocalJWKSet, type LocalJWKSet } from 'jose';
import { DomainError, namedError } from '../../ground/errors.ts';
import { type IdentityProvider, providersFile } from '../../ground/rules.ts';
import { ConfigError } from '../../ground/setting.ts';
import { config } from '../../ground/settings.ts';
import { cached } from '../../keys/cache.ts';
import { getDocument } from '../../keys/signed-request.ts';

/** A provider, with what gives its keys. */
export type KnownProvider = IdentityProvider & { readonly keys: ReturnType<typeof keysOf> };

/** The providers of this process; absent until a token is verified. */
let known: readonly KnownProvider[] | undefined;

/** The provider whose issuer a token names, if there is one. */
export function providerOf(name: unknown) {
  known ??= readProviders().map((each) => ({ ...each, keys: keysOf(each) }));
  return known.find((each) => namesOf(each).some((one) => one === name));
}

/** The names that an issuer may have in a token: Google's may lack `https://`. */
export function namesOf({ issuer }: Pick<IdentityProvider, 'issuer'>): string[] {
  return issuer === google ? [issuer, googleInTokens] : [issuer];
}

/** The issuer that another system names, as it may have read it in a token. */
export function issuerNamed(name: string): string {
  return name === googleInTokens ? google : name;
}

const googleInTokens = 'accounts.google.com';
const google = `https://${googleInTokens}`;

/** The list of a setting, which on AWS is a file. */
function readProviders(): readonly IdentityProvider[] {
  const text = config.identityProviders;
  return JSON.parse(text === providersFile ? readFileSync(providersFile, 'utf8') : text);
}

/** Milliseconds for which keys are used before they are asked for again. */
const keysLifetime = 60 * 60_000;

function keysOf({ issuer }: IdentityProvider) {
  return cached(() => readKeys(issuer), {
    lifetime: keysLifetime,
    event: 'identity-provider-not-read',
  });
}

/** The keys of an issuer. @throws {DomainError} IDENTITY_PROVIDER_FAULT */
async function readKeys(issuer: string): Promise<LocalJWKSet> {
  try {
    return createLocalJWKSet(await getDocument(await discover(issuer)));
  } catch (cause) {
    throw new DomainError('IDENTITY_PROVIDER_FAULT', { cause });
  }
}

/** The address of an issuer's keys. They must come as safely as the document that names them. */
async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await getDocument(url);
  if (`${document.issuer}`.includes('{tenantid}')) {
    const rule = `must have a tenant's own issuer in place of ${issuer}, which is for many tenants`;
    throw new ConfigError('IDENTITY_PROVIDERS', rule);
  }
  const { protocol } = new URL(document.jwks_uri);
  const isSafe = protocol === 'https:' || protocol === new URL(issuer).protocol;
  if (document.issuer !== issuer || !isSafe) throw namedError('DiscoveryDocumentInvalid');
  return document.jwks_uri;
}
