import { audited } from '../../lib/audit/record.ts';
import { countRegistration } from '../../lib/auth/counters.ts';
import { prepareFirstSession } from '../../lib/auth/session-tokens.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { remindToVerify, tellHolder } from '../../lib/mail/hand-over.ts';
import { config, hidesAccounts } from '../../lib/settings.ts';
import { insertIfFree, insertUser, prepareUser } from '../../lib/users/store.ts';
import { creationDetails } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

/** @returns false if the address is taken and nobody may know it: the rest goes on as if it were free */
const insert = async (...user: Parameters<typeof insertUser>): Promise<boolean> => {
  if (hidesAccounts(config)) return insertIfFree(...user);
  await insertUser(...user);
  return true;
};

/** The entry of a registration that is refused unseen. */
const refusal = {
  user_id: undefined,
  resource_id: undefined,
  result: 'FAILURE',
  details: { reason: 'email_registered' },
};

export const handler = publicEndpoint(contract.register, async (request) => {
  const source = sourceOf(request);
  await countRegistration(source.ip_address);

  const creation = { ...source, action: 'CREATE' } as const;
  const { user, tokens, isFree } = await audited(creation, async (entry) => {
    const made = await prepareUser(request.body, 'user', { isVerified: false });
    // The tokens are issued before the user is stored, so that a failure leaves nothing behind.
    const { tokens, writes } =
      config.emailVerification === 'required'
        ? { tokens: {}, writes: [] }
        : await prepareFirstSession(made, source);
    const known = { user_id: made.id, resource_id: made.id, details: creationDetails(made) };
    Object.assign(entry, known);
    const isFree = await insert(made, writes);
    if (!isFree) Object.assign(entry, refusal);
    return { user: made, tokens, isFree };
  });
  await (isFree ? remindToVerify(user, source) : tellHolder(user.email, source));
  return { statusCode: 201, body: { message: 'User registered successfully', ...tokens } };
});
