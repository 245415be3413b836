import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { hasSessions } from '../../lib/ground/settings.ts';

export const suspend = {
  route: 'PUT /api/users/{id}/suspension',
  exists: hasSessions,
  may: 'administerOthers',
  storageFault: ['Error suspending user', 'err'],
} as const satisfies Contract;

// This endpoint exists under every setting, because a suspension is in force under every setting.
export const lift = {
  route: 'DELETE /api/users/{id}/suspension',
  may: 'administerOthers',
  storageFault: ['Error lifting suspension', 'err'],
} as const satisfies Contract;

export const tag = 'Users';

export const descriptions: Descriptions = {
  suspend: () => ({
    id: 'suspendUser',
    summary: 'Suspend a user',
    text: 'Ends all sessions of the user, who cannot log in until the suspension is lifted. Admins cannot suspend themselves. A repetition changes nothing.',
    success: { status: 204, description: 'The user is suspended.' },
    errors: ['LAST_ADMIN_SUSPENSION'],
  }),

  lift: () => ({
    id: 'liftSuspension',
    summary: 'Lift the suspension of a user',
    text: 'The user may log in again. The caller must be stored as an admin at that moment. A user who is not suspended stays as is.',
    success: { status: 204, description: 'The user is not suspended.' },
  }),
};
