import * as v from 'valibot';
import { DomainError } from '../errors.ts';
import { atLeast, type Fields, faultsIn, rule, validate } from '../validation.ts';

const filled = rule({
  code: 'REQUIRED',
  holds: (value) => value.trim() !== '',
  message: () => 'is required',
  keywords: () => ({ pattern: '\\S' }),
});

/** The body of a login. */
export const credentials = v.object({
  email: v.pipe(v.string('must be a string'), filled),
  password: v.pipe(
    v.string('must be a string'),
    atLeast(() => 1),
    v.metadata({ format: 'password' }),
  ),
});

/** The body of a refresh. The token is checked where it is used. */
export const refreshRequest = v.object({ refreshToken: v.pipe(v.string(), v.minLength(1)) });

const currentPassword = v.pipe(v.string(), v.minLength(1), v.metadata({ format: 'password' }));
const code = v.pipe(
  v.string(),
  v.minLength(1),
  v.description(
    'Six digits from the app, or a recovery code. Spaces, hyphens and case do not count.',
  ),
);

// The bodies by which users confirm what they ask for of themselves.
export const passwordConfirmation = v.object({ currentPassword });
export const codeConfirmation = v.object({ code });
export const fullConfirmation = v.object({ currentPassword, code });

/** @throws {DomainError} CREDENTIALS_REQUIRED */
export const parseCredentials = (body: Fields): v.InferOutput<typeof credentials> => {
  const validated = validate(credentials, body);
  if ('output' in validated) return validated.output;
  const faults = faultsIn(credentials, body, validated.faults);
  throw new DomainError('CREDENTIALS_REQUIRED', { faults });
};
