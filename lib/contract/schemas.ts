import * as v from 'valibot';
import type { ErrorCode } from '../ground/errors.ts';
import {
  hasIdentities,
  hasPasskeys,
  hasSecondFactors,
  type ServiceValues,
} from '../ground/settings.ts';
import { described } from '../ground/validation.ts';
import { codeIfAny, confirmation } from '../users/fields.ts';
import type { Success } from './contract.ts';

/**
 * Names a schema in the document. The names are part of the contract, because generators name types after them. So a
 * body has the same name under all settings.
 */
// @__NO_SIDE_EFFECTS__
export function named<const Schema extends v.GenericSchema>(name: string, schema: Schema) {
  return v.pipe(schema, v.metadata({ name }));
}

export const exampleSecondFactor = { enabled: true, recovery_codes_left: 10 };

export const exampleIdentity = {
  id: 'R0h2kQ9mT4yWcXbZ',
  issuer: 'https://accounts.google.com',
  email: 'ada@example.org',
  created_at: '2026-11-20T09:00:00.000Z',
};

/** A number of 64 bits, as JavaScript writes it in JSON. */
export function id(least = 1) {
  return v.pipe(
    v.number(),
    v.integer(),
    v.minValue(least),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.metadata({ format: 'int64' }),
  );
}

/** A body with a confirmation, and with a code if users can have a second factor. @param name the name of the schema */
export function confirmationWithCode(name: string, settings: ServiceValues) {
  return named(name, v.object({ ...confirmation(settings), ...codeIfAny(settings) }));
}

/** The sentence about this confirmation in the descriptions of operations that add a way to log in. */
export const needsConfirmation =
  'Needs the current password, or of a user who has none an ID token of a linked identity.';

export function confirmationWithCodeErrors(settings: ServiceValues) {
  return [
    confirmationErrors(settings),
    'CURRENT_PASSWORD_WRONG',
    'TOO_MANY_ATTEMPTS',
    'USER_NOT_FOUND',
    hasSecondFactors(settings) && (['CODE_REQUIRED', 'CODE_WRONG'] as const),
  ] as const;
}

/**
 * The error for a caller who needs a second factor and has a passkey, but whose session began neither with a
 * passkey nor with a code.
 */
export function factorSessionError(settings: ServiceValues): ErrorCode | false {
  return settings.secondFactor === 'admins' && hasPasskeys(settings) && 'SECOND_FACTOR_REQUIRED';
}

export function confirmationErrors(settings: ServiceValues): readonly ErrorCode[] | false {
  return (
    hasIdentities(settings) && [
      'ID_TOKEN_REQUIRED',
      'IDENTITY_TOKEN_INVALID',
      'IDENTITY_PROVIDER_FAULT',
    ]
  );
}

export function tokenLifetime({ tokenMinutes }: Pick<ServiceValues, 'tokenMinutes'>): string {
  return tokenMinutes === 1440 ? 'one day' : `${tokenMinutes} minutes`;
}

export function message() {
  return named('Message', v.object({ message: v.string() }));
}

export function secondFactor() {
  return named('SecondFactor', v.object({ enabled: v.boolean(), recovery_codes_left: count() }));
}

export function count() {
  return v.pipe(v.number(), v.integer(), v.minValue(0));
}

export function identity() {
  return named(
    'Identity',
    v.object({
      id: v.string(),
      issuer: v.string(),
      email: described(v.nullable(v.string()), 'As the issuer has verified it.'),
      created_at: timestamp(),
    }),
  );
}

/** ISO 8601, UTC, milliseconds. */
export function timestamp() {
  return v.pipe(v.string(), v.isoTimestamp());
}

/** The response with an HTML page. @param name the name of the page in the names of schemas */
export function page(name: string): Success {
  return {
    status: 200,
    description: 'The page.',
    schema: text(`${name}Page`, 'HTML.'),
    contentType: 'text/html; charset=utf-8',
    headers: ['ETag'],
  };
}

export function pageFile(name: string): Success {
  return {
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
      {
        contentType: 'text/plain',
        schema: text(`${name}Notices`, 'Notices of third parties.'),
        example: 'Permission is hereby granted',
      },
    ],
  };
}

/** The sentence about addresses that cannot get mail in the descriptions of operations that take a new address. */
export function refusesUnmailable({ emailVerification }: ServiceValues) {
  return emailVerification !== 'off' && 'An address to which no mail can be sent is refused.';
}

function text(name: string, what: string) {
  return named(name, described(v.string(), what));
}
