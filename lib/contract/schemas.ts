/** Schemas that several contracts share. */
import * as v from 'valibot';
import type { ErrorCode } from '../ground/errors.ts';
import { hasIdentities, hasSecondFactors, type ServiceValues } from '../ground/settings.ts';
import { filledText, knownPassword, optionalCode } from '../users/fields.ts';
import { named, type Success } from './contract.ts';

/** A number of 64 bits, as JSON in JavaScript can write it. */
export const id = () =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.metadata({ format: 'int64' }),
  );

/** ISO 8601, UTC, milliseconds. */
export const timestamp = () => v.pipe(v.string(), v.isoTimestamp());

export const count = () => v.pipe(v.number(), v.integer(), v.minValue(0));

/** For the document: the ID token by which users without a password confirm what they ask for. */
export const idTokenUnder = (settings: ServiceValues): v.ObjectEntries =>
  hasIdentities(settings)
    ? {
        idToken: v.exactOptional(
          v.pipe(filledText(), v.description('Of users without a password; with its `nonce`.')),
        ),
        nonce: v.exactOptional(filledText()),
      }
    : {};

/** For the document: what users confirm by under some settings. */
export const confirmationUnder = (settings: ServiceValues): v.ObjectEntries => ({
  currentPassword: hasIdentities(settings) ? v.exactOptional(knownPassword()) : knownPassword(),
  ...idTokenUnder(settings),
});

/** For the document: the code of those who have a second factor. */
export const codeUnder = (settings: ServiceValues): v.ObjectEntries =>
  hasSecondFactors(settings) ? { code: optionalCode() } : {};

/** The errors of such an ID token. */
export const confirmationErrors = (settings: ServiceValues): readonly ErrorCode[] =>
  hasIdentities(settings)
    ? ['ID_TOKEN_REQUIRED', 'IDENTITY_TOKEN_INVALID', 'IDENTITY_PROVIDER_FAULT']
    : [];

/** A response that says what was done. */
/** For how long a token is valid. */
export const tokenLifetime = ({ tokenMinutes }: Pick<ServiceValues, 'tokenMinutes'>): string =>
  tokenMinutes === 1440 ? 'one day' : `${tokenMinutes} minutes`;

export const message = () => named('Message', v.object({ message: v.string() }));

/** Whether there is a second factor. */
export const secondFactor = () =>
  named('SecondFactor', v.object({ enabled: v.boolean(), recovery_codes_left: count() }));

export const exampleSecondFactor = { enabled: true, recovery_codes_left: 10 };

/** An identity of a user at another issuer. */
export const identity = () =>
  named(
    'Identity',
    v.object({
      id: v.string(),
      issuer: v.string(),
      email: v.pipe(v.nullable(v.string()), v.description('As the issuer has verified it.')),
      created_at: timestamp(),
    }),
  );

export const exampleIdentity = {
  id: 'R0h2kQ9mT4yWcXbZ',
  issuer: 'https://accounts.google.com',
  email: 'ada@example.org',
  created_at: '2026-11-20T09:00:00.000Z',
};

const text = (name: string, what: string) => named(name, v.pipe(v.string(), v.description(what)));

/** The response with a page. @param name the page, in the names of schemas */
export const page = (name: string): Success => ({
  status: 200,
  description: 'The page.',
  schema: text(`${name}Page`, 'HTML.'),
  contentType: 'text/html; charset=utf-8',
  headers: ['ETag'],
});

/** The response with a file that a page loads. */
export const pageFile = (name: string): Success => ({
  status: 200,
  description: 'The file.',
  schema: text(`${name}Script`, 'A script.'),
  contentType: 'text/javascript; charset=utf-8',
  textForms: [
    {
      contentType: 'text/css',
      schema: text(`${name}StyleSheet`, 'A style sheet.'),
      example: 'body {}',
    },
  ],
});

/** What the description of an operation that takes a new address says of it. */
export const refusesUnmailable = ({ emailVerification }: ServiceValues) =>
  emailVerification === 'off' ? '' : ' An address to which no mail can be sent is refused.';
