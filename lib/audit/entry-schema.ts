import * as v from 'valibot';
import { actions, results } from './actions.ts';

/** An audit entry, as it is stored and as responses show it. */
export const auditEntry = v.object({
  id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.metadata({ format: 'int64' }),
  ),
  user_id: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer(), v.metadata({ format: 'int64' }))),
    v.description('Who did it; null when no user is known.'),
  ),
  action: v.picklist(actions),
  resource: v.pipe(v.string(), v.maxLength(100)),
  resource_id: v.pipe(
    v.nullable(v.pipe(v.string(), v.maxLength(100))),
    v.description('To whom it was done.'),
  ),
  ip_address: v.nullable(v.pipe(v.string(), v.maxLength(45))),
  user_agent: v.nullable(v.pipe(v.string(), v.maxLength(1024))),
  result: v.picklist(results),
  details: v.pipe(v.nullable(v.string()), v.description('JSON, after redaction.')),
  /** ISO 8601, UTC, milliseconds. */
  created_at: v.pipe(v.string(), v.isoTimestamp()),
});
