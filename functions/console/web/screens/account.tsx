import { settings } from '../api.ts';
import { Loaded } from '../components/notice.tsx';
import { Person } from '../components/person.tsx';
import {
  OwnAddress,
  PasswordForm,
  UserFacts,
  UserStates,
  useUser,
} from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { signedIn } from '../session.ts';
import { OwnFactor } from './on-demand.tsx';
import { Details } from './user.tsx';

export const Account = () => {
  const { changes, changed, ...loaded } = useUser(signedIn.use().session?.id ?? 0);
  return (
    <Screen title="My account">
      <Loaded what="The account" from={loaded}>
        {(user) => (
          <>
            <p>
              <Person user={user} />
            </p>
            <UserFacts user={user} />
            <OwnAddress user={user} />
            <UserStates user={user} />
            <Details user={user} changed={changed} changes={changes}>
              <div class="stack">
                <Card title="Password">
                  <PasswordForm user={user} changed={changed} />
                </Card>
                {settings.secondFactor !== 'off' && (
                  <Card title="Second factor">
                    <OwnFactor changed={changed} />
                  </Card>
                )}
              </div>
            </Details>
          </>
        )}
      </Loaded>
    </Screen>
  );
};
