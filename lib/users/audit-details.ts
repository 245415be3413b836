/** What audit entries say of users, in their details (functions/README.md, What is audited). */
import type { User } from './user.ts';

/** Of a user who is made: the role of an admin, so that the trail tells who was one at any instant. */
export const creationDetails = ({ role }: Pick<User, 'role'>): object | undefined =>
  role === 'admin' ? { role } : undefined;
