import { authenticated } from '../../lib/access.ts';
import { record, recordingFaults } from '../../lib/audit/record.ts';
import { endpoint } from '../../lib/endpoint.ts';
import { createAccount } from '../../lib/users/accounts.ts';
import { parseNewRole, parseNewUser } from '../../lib/users/schema.ts';

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
    const creation = { action: 'CREATE', user_id: claims.id } as const;
    const user = await recordingFaults(request, creation, () =>
      createAccount(newUser, role, (created) => created),
    );
    await record(request, {
      ...creation,
      resource_id: user.id,
      result: 'SUCCESS',
    });
    return { statusCode: 201, body: user };
  },
);
