import { api, send, settings } from '../api.ts';
import { Busy, FailureNotice } from '../components/notice.tsx';
import { PasswordForm, ProfileForm } from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { OwnFactor } from '../components/second-factor.tsx';
import { Sessions } from '../components/sessions.tsx';
import { useLoad } from '../loading.ts';
import { signedIn } from '../session.ts';
import { UserFacts } from './user.tsx';

/** The account of whoever is signed in. */
export const Account = () => {
  const id = signedIn.use().session?.id ?? 0;
  const { data, failure, isBusy, reload, update } = useLoad(`account ${id}`, () =>
    send(api.GET('/api/users/{id}', { params: { path: { id } } })),
  );
  return (
    <Screen title="My account">
      <FailureNotice what="Your account could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading your account…" />}
      {data && (
        <>
          <UserFacts user={data} />
          <div class="columns">
            <Card title="Profile">
              <ProfileForm user={data} update={(user) => update(() => user)} />
            </Card>
            <Card title="Password">
              <PasswordForm user={data} />
            </Card>
            {settings.secondFactor !== 'off' && (
              <Card title="Second factor">
                <OwnFactor />
              </Card>
            )}
          </div>
          <Sessions id={id} />
        </>
      )}
    </Screen>
  );
};
