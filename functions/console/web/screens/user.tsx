import { useEffect } from 'preact/hooks';
import { Access } from '../components/access.tsx';
import { Entries } from '../components/entries.tsx';
import { Identities } from '../components/identities.tsx';
import { Loaded } from '../components/notice.tsx';
import { Person } from '../components/person.tsx';
import { mayChange, ProfileForm, UserFacts, useUser } from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Sessions } from '../components/sessions.tsx';
import { forgetUsers, useKnown } from '../components/user-name.tsx';
import { usePages } from '../loading.ts';
import { href } from '../router.ts';
import { readState } from '../trail/query.ts';
import { readPage } from '../trail/read.ts';

/** Entries of a user that are shown. */
const shown = 10;

/** The newest entries by and about a user, and a link to all. */
const Newest = ({ id }: { id: number }) => {
  const query = { about: String(id) };
  const pages = usePages(`about ${id}`, () => readPage(readState(query)));
  return (
    <section class="trail stack">
      <div class="row apart">
        <h2>What happened</h2>
        <a href={href('/audit', query)}>All entries</a>
      </div>
      <Entries
        pages={{ ...pages, rows: pages.rows?.slice(0, shown), more: undefined }}
        caption="What this user did, and what was done to this user"
        empty="Nothing yet."
      />
    </section>
  );
};

/** A user, with all that an admin can do there; an auditor sees the same of others, and changes nothing. */
export const User = ({ id }: { id: number }) => {
  const { changes, changed, ...loaded } = useUser(id);
  const isMissing = loaded.failure?.status === 404;
  const known = useKnown(id);
  const { name = '' } = known;
  useEffect(() => forgetUsers, []);
  return (
    <Screen
      title={`#${id} ${name}`}
      heading={<Person user={isMissing ? { ...known, isDeleted: true } : known} />}
    >
      {isMissing ? (
        <p class="empty">No user has the id {id} now. The trail says what was.</p>
      ) : (
        <Loaded what="The user" from={loaded}>
          {(user) => (
            <>
              <UserFacts user={user} />
              {mayChange(user) && (
                <Card title="Profile">
                  <ProfileForm user={user} changed={changed} />
                </Card>
              )}
              <Access user={user} changed={changed} />
              <Identities user={user} changed={changed} />
              {mayChange(user) && <Sessions key={changes} id={id} />}
            </>
          )}
        </Loaded>
      )}
      <Newest id={id} />
    </Screen>
  );
};
