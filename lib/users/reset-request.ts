/** The body of a request for a password reset, whose function needs no other. */
import * as v from 'valibot';
import { type Fields, parseBody } from '../validation.ts';
import { email } from './fields.ts';

/** The body of POST /api/password-resets. */
export const resetRequest = v.object({ email });

/** @throws {DomainError} EMAIL_REQUIRED, or FIELD_INVALID */
export const parseResetRequest = (body: Fields): v.InferOutput<typeof resetRequest> =>
  parseBody(resetRequest, body, 'EMAIL_REQUIRED');
