import { adminOnly } from '../../lib/access.ts';
import { record, recordingFaults } from '../../lib/audit/record.ts';
import { endpoint } from '../../lib/endpoint.ts';
import { deleteUser } from '../../lib/users/changes.ts';
import { parseUserId } from '../../lib/users/schema.ts';

/** DELETE /api/users/{id} */
export const handler = endpoint(
  { access: adminOnly, storageFault: ['Error deleting user', 'err'] },
  async (request) => {
    const id = parseUserId(request.pathParameters?.id);
    const deletion = {
      action: 'DELETE',
      user_id: request.claims.id,
      resource_id: id,
    } as const;
    await recordingFaults(request, deletion, () => deleteUser(id));
    await record(request, { ...deletion, result: 'SUCCESS' });
    return { statusCode: 204 };
  },
);
