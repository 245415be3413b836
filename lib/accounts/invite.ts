/** How admins mail an invitation again (functions/README.md, Invitations). Every line is for invitations. */
import { recording } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import type { Language } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { whyNotInvitable } from '../options/invitations/invitation.ts';
import { requestMailOrTell } from '../options/mails/announced-limits.ts';
import { invitationMessage } from '../options/mails/hand-over.ts';
import { causeOf } from '../options/mails/sources.ts';
import { requireMailable } from '../users/fields.ts';
import { readUser } from '../users/store.ts';

/**
 * Invites a user who has no way in yet, by a mail whose language is MAIL_LANGUAGE by default.
 * @throws {DomainError} USER_NOT_FOUND, WAY_IN_EXISTS, ADMIN_INVITED, INVITED_SUSPENDED, FIELD_INVALID, MAILS_LIMITED,
 *   MAIL_FAULT, STORAGE_FAULT
 */
export async function inviteUser(
  { id, by, source }: { id: number; by: number | undefined; source: Source },
  language: Language | undefined,
): Promise<void> {
  await recording({ source, action: 'UPDATE', by, on: id }, async () => {
    const user = await readUser(id);
    const refusal = whyNotInvitable(user);
    if (refusal) throw new DomainError(refusal);
    requireMailable(user.email);
    await requestMailOrTell(invitationMessage(user, source, language), causeOf(by));
    return { details: { invited: true } };
  });
}
