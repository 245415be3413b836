import { authenticated } from '../../lib/access.ts';
import { record, recordingFaults } from '../../lib/audit/record.ts';
import { endpoint } from '../../lib/endpoint.ts';
import { prepareUser } from '../../lib/users/accounts.ts';
import { toUser } from '../../lib/users/items.ts';
import { parseNewRole, parseNewUser } from '../../lib/users/schema.ts';
import { insertUser } from '../../lib/users/store.ts';

/** POST /api/users */
export const handler = endpoint(
  {
    access: authenticated,
    body: 'json',
    storageFault: ['Error creating user', 'insertErr'],
  },
  async (request) => {
    const { body, claims } = request;
    const role = parseNewRole(body, claims.role);
    const newUser = parseNewUser(body);
    const byCaller = { action: 'CREATE', user_id: claims.id } as const;
    const user = await recordingFaults(request, byCaller, () => prepareUser(newUser, role));
    const creation = { ...byCaller, resource_id: user.id };
    await recordingFaults(request, creation, () => insertUser(user, claims.id));
    await record(request, { ...creation, result: 'SUCCESS' });
    return { statusCode: 201, body: toUser({ ...user }) };
  },
);
