import { DomainError } from '../../../lib/ground/errors.ts';
import { config } from '../../../lib/ground/settings.ts';
import { isUnverified, verifiedAddress } from '../../../lib/options/verified-addresses/address.ts';
import { rewriteUser, writeUser } from '../../../lib/users/write.ts';
import { recordChange } from '../audit.ts';
import { type Command, type Run, requireUser } from '../command.ts';
import { Failure } from '../failure.ts';

const run: Run = async ({ operator, operands: [email = ''] }) => {
  if (config.emailVerification === 'off') {
    throw new Failure('This service verifies no addresses: see the setting emailVerification.');
  }
  const user = await requireUser(email);
  const { id } = user;
  if (!isUnverified(user)) throw new Failure('The address of this user is verified already.');
  const details = { fields: Object.keys(verifiedAddress) };
  await recordChange(
    { operator, action: 'UPDATE', resource_id: id, details },
    async () => {
      await rewriteUser(id, async (current) => {
        // Only the named address is verified: the user may have got another address meanwhile.
        if (current.email !== user.email) throw new DomainError('USER_NOT_FOUND');
        return writeUser(current, { fields: verifiedAddress });
      });
      console.log(`The address of user ${id} is verified.`);
    },
    { check: 'Run the command again: it says whether the address is verified.' },
  );
};

export const verifyEmail: Command = {
  summary: 'mark the address of a user as verified',
  operands: ['email'],
  help: `For a user whose mails do not arrive, and who has shown you in another way that the address
is theirs. This needs a service that verifies addresses (emailVerification).`,
  run,
};
