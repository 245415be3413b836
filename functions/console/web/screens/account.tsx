import { settings } from '../api.ts';
import { Loaded } from '../components/notice.tsx';
import { Person } from '../components/person.tsx';
import {
  OwnAddress,
  PasswordForm,
  ProfileForm,
  UserFacts,
  UserStates,
  useUser,
} from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { signedIn } from '../session.ts';
import { Attributes, Identities, OwnFactor, Passkeys, Sessions } from './on-demand.tsx';

export const Account = () => {
  const id = signedIn.use().session?.id ?? 0;
  const { changes, changed, ...loaded } = useUser(id);
  return (
    <Screen title="My account">
      <Loaded what="The account" from={loaded}>
        {(user) => (
          <>
            <p>
              <Person user={user} />
            </p>
            <UserFacts user={user} />
            <UserStates user={user} />
            <OwnAddress user={user} />
            <Card title="Profile">
              <ProfileForm user={user} changed={changed} />
            </Card>
            <Attributes user={user} changed={changed} />
            <div class="columns">
              <Card title="Password">
                <PasswordForm user={user} changed={changed} />
              </Card>
              {settings.secondFactor !== 'off' && (
                <Card title="Second factor">
                  <OwnFactor changed={changed} />
                </Card>
              )}
            </div>
            <Identities user={user} changed={changed} />
            <Passkeys user={user} changed={changed} />
            <Sessions key={changes} id={id} />
          </>
        )}
      </Loaded>
    </Screen>
  );
};
