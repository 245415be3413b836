/**
 * The issuers whose ID tokens are accepted, and the keys that they publish: found by their discovery
 * documents (OpenID Connect Discovery 1.0, section 4), and cached in this process.
 */
import { readFileSync } from 'node:fs';
import { HttpRequest } from '@smithy/core/protocols';
import { createLocalJWKSet, type LocalJWKSet } from 'jose';
import { DomainError, namedError } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import { config, type IdentityProvider, providersFile } from '../settings.ts';
import { exchange } from '../signed-request.ts';

/** Milliseconds for which keys are used before they are asked for again. */
const keysLifetime = 60 * 60_000;

/** Milliseconds between two requests for them, however many tokens name an unknown key. */
const askingInterval = 60_000;

const readJson = async (url: string) => {
  const { protocol, hostname, port, host, pathname, search } = new URL(url);
  const request = new HttpRequest({
    method: 'GET',
    protocol,
    hostname,
    path: pathname + search,
    ...(port ? { port: Number(port) } : {}),
    headers: { host, accept: 'application/json' },
  });
  const { status, text } = await exchange(request).catch(() => exchange(request));
  if (status !== 200) throw namedError(`Http${status}`);
  return JSON.parse(text);
};

/** The address of an issuer's keys. They must come as safely as the document that names them. */
const discover = async (issuer: string): Promise<string> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await readJson(url);
  const { protocol } = new URL(document.jwks_uri);
  const isSafe = protocol === 'https:' || protocol === new URL(issuer).protocol;
  if (document.issuer !== issuer || !isSafe) throw namedError('DiscoveryDocumentInvalid');
  return document.jwks_uri;
};

/** Gives the keys of an issuer. @throws {DomainError} IDENTITY_PROVIDER_FAULT */
type Keys = (options?: { readonly isUnknown?: boolean }) => Promise<LocalJWKSet>;

/**
 * Caches the keys of an issuer. While they cannot be read, those that were read last stay in use.
 * @returns a function that reads them again where a token names an unknown one, but once in
 *   {@link askingInterval} at most
 */
const cachedKeys = (issuer: string): Keys => {
  let keys: LocalJWKSet | undefined;
  let address: string | undefined;
  let [readAt, askedAt] = [0, 0];
  let asking: Promise<void> | undefined;
  // A clock that was set back has passed too.
  const isPast = (time: number, length: number) => Math.abs(Date.now() - time) >= length;

  const ask = async () => {
    askedAt = Date.now();
    try {
      if (isPast(readAt, keysLifetime)) address = undefined;
      address ??= await discover(issuer);
      keys = createLocalJWKSet(await readJson(address));
      readAt = askedAt;
    } catch (cause) {
      address = undefined;
      logError('identity-provider-not-read', { issuer, ...describeFault(cause) });
      if (!keys) throw new DomainError('IDENTITY_PROVIDER_FAULT', { cause });
    }
  };

  return async ({ isUnknown = false } = {}) => {
    const isWanted = isUnknown || isPast(readAt, keysLifetime);
    if (!keys || (isWanted && isPast(askedAt, askingInterval))) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return keys as LocalJWKSet;
  };
};

/** The list of a setting, which on AWS is a file. */
const readProviders = (text: string): readonly IdentityProvider[] =>
  JSON.parse(text === providersFile ? readFileSync(providersFile, 'utf8') : text);

/** The providers of this process, by the text of the setting; each with its keys. */
let known: { text: string; providers: readonly (IdentityProvider & { keys: Keys })[] } | undefined;

/** The names that an issuer may have in a token: Google's may lack `https://`. */
export const namesOf = ({ issuer }: IdentityProvider): string[] =>
  issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer];

/** The provider whose issuer a token names, if there is one. */
export const providerOf = (name: unknown) => {
  const text = config.identityProviders;
  if (known?.text !== text) {
    const list = text === '' ? [] : readProviders(text);
    known = { text, providers: list.map((each) => ({ ...each, keys: cachedKeys(each.issuer) })) };
  }
  return known.providers.find((each) => namesOf(each).some((one) => one === name));
};
