import { resetRequested } from '../../../lib/audit/entry.ts';
import { config, sendsMail } from '../../../lib/ground/settings.ts';
import { makeLinkToken, resetLink } from '../../../lib/options/links/mailed-link.ts';
import { linkTo, urlOf } from '../../../lib/options/links/page.ts';
import { isSuspended } from '../../../lib/users/user.ts';
import { recordChange } from '../audit.ts';
import { type Command, type Run, requireUser } from '../command.ts';
import { Failure } from '../failure.ts';

const run: Run = async ({ operator, operands: [email = ''] }) => {
  if (!sendsMail(config)) {
    throw new Failure('This service resets no passwords: that requires the setting mailFrom.');
  }
  if (!URL.canParse(urlOf('reset')))
    throw new Failure('Start the service first: its address is known only while it runs.');
  const user = await requireUser(email);
  const { id } = user;
  if (isSuspended(user)) {
    throw new Failure(`User ${id} is suspended: an admin must lift the suspension first.`);
  }
  await recordChange(
    { operator, action: 'UPDATE', resource_id: id, details: resetRequested },
    async () => {
      const token = await makeLinkToken(resetLink(user));
      console.log(linkTo('reset', { token, email: user.email }));
      console.error(`This link for user ${id} is valid for 30 minutes, and only once.`);
    },
    { check: 'Run the command again: only the newest link is valid.' },
  );
};

export const resetPassword: Command = {
  summary: 'print a link by which a user sets a new password',
  operands: ['email'],
  help: `For a user whose mails do not arrive: send the link in a way that you trust, to this user
only. It is valid for 30 minutes, and only once; links that were mailed before become invalid. The
service must send mails (mailFrom). Nothing is mailed until the link is used.`,
  run,
};
