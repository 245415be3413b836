import { expect, it } from 'vitest';
import { endpoints } from '../../functions/contracts.ts';

/**
 * The messages and fields that the specification names. Tests in test/faults check that responses follow the contracts.
 */
it.each<[string, string, string]>([
  ['POST /api/auth/register', 'Error registering user', 'insertErr'],
  ['POST /api/login', 'Error checking user', 'err'],
  ['GET /api/profile', 'Error fetching profile', 'err'],
  ['POST /api/users', 'Error creating user', 'insertErr'],
  ['GET /api/users', 'Error listing users', 'err'],
  ['GET /api/users/{id}', 'Error fetching user', 'err'],
  ['PUT /api/users/{id}', 'Error updating user', 'err'],
  ['DELETE /api/users/{id}', 'Error deleting user', 'err'],
  ['GET /api/admin/audit-logs', 'Error fetching audit logs', 'err'],
])('%s responds to a fault of storage with "%s" and the field %s', (route, ...expected) => {
  const endpoint = endpoints.find(({ contract }) => contract.route === route);

  expect(endpoint?.contract.storageFault).toEqual(expected);
});
