/** What audit entries say of users, in their details (functions/README.md, What is audited). */
import { config } from '../settings.ts';
import type { UserChanges } from './schema.ts';
import type { User } from './user.ts';

/** Whether entries hold the values that an auditor asks for. */
const isFull = () => config.auditDetail === 'full';

type Told = Pick<User, 'name' | 'email' | 'role'>;

/** Of a user who is deleted. */
export const deletionDetails = ({ name, email, role }: Told): object | undefined =>
  isFull() ? { name, email, role } : undefined;

/** Of a user who is made: the role of an admin always, so that the trail tells who was one when. */
export const creationDetails = (user: Told): object | undefined =>
  deletionDetails(user) ?? (user.role === 'admin' ? { role: user.role } : undefined);

/** Of a change: the names of the fields, and the values of a role that changed. */
export const changeDetails = (before: Told, changes: UserChanges): object => {
  const told = isFull() ? (['name', 'email', 'role'] as const) : (['role'] as const);
  const values = told
    .map((field) => [field, { from: before[field], to: changes[field] ?? before[field] }] as const)
    .filter(([, { from, to }]) => from !== to);
  return { fields: Object.keys(changes), ...Object.fromEntries(values) };
};
