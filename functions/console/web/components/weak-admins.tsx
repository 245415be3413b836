import type { UserDetails } from '../../../client/paths.ts';
import { api, type Page, sendForPage, settings } from '../api.ts';
import { counted } from '../format.ts';
import { useLoad } from '../loading.ts';
import { isInForce } from '../passkeys.ts';
import { Cut } from './cut.tsx';
import { FailureNotice } from './notice.tsx';
import { Named } from './person.tsx';
import { Badge } from './text.tsx';

/** The most admins who are looked at. */
const limit = 100;

type Admin = Pick<UserDetails, 'second_factor' | 'passkeys'>;

/** Whether an admin is known to sign in by the password alone. */
const isWeak = ({ second_factor: factor, passkeys }: Admin): boolean =>
  (factor ?? passkeys) !== undefined && !factor?.enabled && !passkeys?.some(isInForce);

const readAdmins = (): Promise<Page<readonly UserDetails[]>> =>
  sendForPage(api.GET('/api/users', { params: { query: { role: 'admin', limit } } }));

const options = [
  settings.secondFactor !== 'off' && 'a second factor',
  settings.passkeys && 'a passkey',
].filter(Boolean);

/** The admins who have neither a second factor nor a passkey, as far as the service tells. */
export const WeakAdmins = () => {
  const { data, failure, reload } = useLoad('admins', readAdmins);
  const weak = (data?.data ?? []).filter(isWeak);
  return (
    <>
      <FailureNotice what="The admins could not be loaded" failure={failure} retry={reload} />
      {weak.length > 0 && (
        <div class="row">
          <Badge kind="bad">{counted(weak.length, 'admin')}</Badge>
          <span>
            without {options.join(' or ')}
            {data?.next && `, of the first ${limit}: there are more admins`}:
          </span>
          <Cut rows={weak}>
            {(shown) => shown.map((user) => <Named key={user.id} user={user} isLink />)}
          </Cut>
        </div>
      )}
    </>
  );
};
