import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named } from '../../lib/contract/schemas.ts';
import { sendsMail } from '../../lib/ground/settings.ts';
import { mailLanguage } from '../../lib/users/fields.ts';

export const create = {
  route: 'POST /api/users/{id}/invitations',
  exists: sendsMail,
  may: 'inviteUser',
  body: () => named('Invitation', v.object({ language: mailLanguage })),
  storageFault: ['Error inviting user', 'err'],
} as const satisfies Contract;

export const tag = 'Users';

export const descriptions: Descriptions = {
  create: () => ({
    id: 'inviteUser',
    summary: 'Invite a user, again if need be',
    text: 'Mails a link by which the user sets a first password and proves the address: valid once, for seven days, until a newer one is mailed. It is for users who have neither a password nor an identity, imported ones too. Beyond the limits of mails the response is 429, and nothing is changed.',
    isBodyOptional: true,
    bodyExample: { language: 'en' },
    success: { status: 204, description: 'A mail will be sent to the user.' },
    errors: ['WAY_IN_EXISTS', 'ADMIN_INVITED', 'INVITED_SUSPENDED', 'MAILS_LIMITED', 'MAIL_FAULT'],
  }),
};
