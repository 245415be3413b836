import { api, send } from '../api.ts';
import { Busy, FailureNotice } from '../components/notice.tsx';
import { Screen } from '../components/screen.tsx';
import { CopyButton, Time } from '../components/text.tsx';
import { UserTrail } from '../components/user-trail.tsx';
import { useLoad } from '../loading.ts';
import { RoleBadge } from './users.tsx';

/** A user, with all that an admin can do to it. */
export const User = ({ id }: { id: number }) => {
  const { data, failure, isBusy, reload } = useLoad(`user ${id}`, () =>
    send(api.GET('/api/users/{id}', { params: { path: { id } } })),
  );
  return (
    <Screen title={data?.name ?? `User ${id}`}>
      <FailureNotice what="The user could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading the user…" />}
      {data && (
        <dl class="card facts">
          <dt>Email address</dt>
          <dd>
            {data.email} <CopyButton text={data.email} label="Copy the address" />
          </dd>
          <dt>Role</dt>
          <dd>
            <RoleBadge role={data.role} />
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={data.created_at} />
          </dd>
        </dl>
      )}
      <UserTrail id={id} />
    </Screen>
  );
};
