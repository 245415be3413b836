/** The details of audit entries about users (functions/README.md, What is audited). */
import { config } from '../settings.ts';
import type { UserChanges } from './fields.ts';
import type { User } from './user.ts';

/** Whether entries hold the values of fields, and not their names alone. */
const isFull = () => config.auditDetail === 'full';

type Recorded = Pick<User, 'name' | 'email' | 'role'>;

/** The details of a deletion. */
export const deletionDetails = ({ name, email, role }: Recorded): object | undefined =>
  isFull() ? { name, email, role } : undefined;

/**
 * The details of a creation. They always hold the role of an admin, so that the trail says who was
 * one when.
 */
export const creationDetails = (user: Recorded): object | undefined =>
  deletionDetails(user) ?? (user.role === 'admin' ? { role: user.role } : undefined);

/** The details of a change: the names of the fields, and the old and new role if it changed. */
export const changeDetails = (before: Recorded, changes: UserChanges) => {
  const recorded = isFull() ? (['name', 'email', 'role'] as const) : (['role'] as const);
  const values = recorded
    .map((field) => [field, { from: before[field], to: changes[field] ?? before[field] }] as const)
    .filter(([, { from, to }]) => from !== to);
  return { fields: Object.keys(changes), ...Object.fromEntries(values) };
};
