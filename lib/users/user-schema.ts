/** What responses show of users. Apart from lib/users/user.ts, because only the document needs it. */
import * as v from 'valibot';
import { roles } from './role.ts';

const id = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(Number.MAX_SAFE_INTEGER),
  v.metadata({ format: 'int64' }),
);

/** ISO 8601, UTC, milliseconds. */
const timestamp = v.pipe(v.string(), v.isoTimestamp());

/** A user as responses show it (functions/README.md, Responses): never with the password hash. */
export const user = v.object({
  id,
  name: v.string(),
  email: v.string(),
  role: v.picklist(roles),
  created_at: timestamp,
});

/** A user of the in-memory variant. */
export const memoryUser = v.object({
  id,
  name: v.string(),
  email: v.string(),
  createdAt: timestamp,
});
