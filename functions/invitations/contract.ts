import * as v from 'valibot';
import { type Contract, type Descriptions, named } from '../../lib/contract/contract.ts';
import { sendsMail } from '../../lib/ground/settings.ts';
import { mailLanguage } from '../../lib/users/fields.ts';

export const create = {
  route: 'POST /api/users/{id}/invitations',
  exists: sendsMail,
  may: 'administer',
  body: () => named('Invitation', v.object({ language: mailLanguage })),
  storageFault: ['Error inviting user', 'err'],
} as const satisfies Contract;

export const tag = 'Users';

export const descriptions: Descriptions = {
  create: () => ({
    id: 'inviteUser',
    summary: 'Invite a user, again if need be',
    text: 'Mails a link by which the user sets a first password and proves the address: valid once, for seven days, until a newer one is mailed. It is for users who have neither a password nor an identity, imported ones too. Mails are limited as those of password resets are; beyond the limits the response is the same.',
    isBodyOptional: true,
    bodyExample: { language: 'en' },
    success: { status: 204, description: 'A mail will be sent to the user.' },
    errors: ['WAY_IN_EXISTS', 'ADMIN_INVITED', 'INVITED_SUSPENDED', 'MAIL_FAULT'],
  }),
};
