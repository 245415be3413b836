import { settings } from '../api.ts';
import { Busy, FailureNotice } from '../components/notice.tsx';
import { PasswordForm, ProfileForm, useUser } from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { OwnFactor } from '../components/second-factor.tsx';
import { Sessions } from '../components/sessions.tsx';
import { signedIn } from '../session.ts';
import { UserFacts } from './user.tsx';

/** The account of whoever is signed in. */
export const Account = () => {
  const id = signedIn.use().session?.id ?? 0;
  const { data, failure, isBusy, reload, changes, changed } = useUser(id);
  return (
    <Screen title="My account">
      <FailureNotice what="Your account could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading your account…" />}
      {data && (
        <>
          <UserFacts user={data} />
          <Card title="Profile">
            <ProfileForm user={data} changed={changed} />
          </Card>
          <div class="columns">
            <Card title="Password">
              <PasswordForm user={data} changed={changed} />
            </Card>
            {settings.secondFactor !== 'off' && (
              <Card title="Second factor">
                <OwnFactor changed={() => changed(data)} />
              </Card>
            )}
          </div>
          <Sessions key={changes} id={id} />
        </>
      )}
    </Screen>
  );
};
