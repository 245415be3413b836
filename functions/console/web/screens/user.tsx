import { Access } from '../components/access.tsx';
import { Entries } from '../components/entries.tsx';
import { Loaded } from '../components/notice.tsx';
import { ProfileForm, UserFacts, useUser } from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Sessions } from '../components/sessions.tsx';
import { usePages } from '../loading.ts';
import { href } from '../router.ts';
import { readState } from '../trail/query.ts';
import { readPage } from '../trail/read.ts';

/** Entries of a user that are shown. */
const shown = 5;

interface NewestProps {
  readonly title: string;
  readonly empty: string;
  readonly query: Readonly<Record<string, string>>;
  /** The column that would name this user in each row. */
  readonly without: 'Who' | 'To whom';
}

/** The newest entries of a query, and a link to all of them. */
const Newest = ({ title, query, ...rest }: NewestProps) => {
  const pages = usePages(JSON.stringify(query), () => readPage(readState(query)));
  return (
    <section class="trail stack">
      <div class="row apart">
        <h2>{title}</h2>
        <a href={href('/audit', query)} aria-label={`All entries: ${title}`}>
          All entries
        </a>
      </div>
      <Entries
        {...rest}
        pages={{ ...pages, rows: pages.rows?.slice(0, shown), more: undefined }}
        caption={title}
      />
    </section>
  );
};

/** A user, with all that an admin can do to it. */
export const User = ({ id }: { id: number }) => {
  const { changes, changed, ...loaded } = useUser(id);
  const { data, failure } = loaded;
  const isMissing = failure?.status === 404;
  return (
    <Screen title={data?.name ?? `User ${id}`}>
      {isMissing ? (
        <p class="empty">
          No user has the id {id}.{' '}
          <a href={href('/audit', { resourceId: id })}>See what was done to it</a>
        </p>
      ) : (
        <>
          <Loaded what="The user" from={loaded}>
            {(user) => (
              <>
                <UserFacts user={user} />
                <Card title="Profile">
                  <ProfileForm user={user} changed={changed} />
                </Card>
                <Access user={user} changed={changed} />
                <Sessions key={changes} id={id} />
              </>
            )}
          </Loaded>
          <Newest
            title="What this user did"
            empty="This user has done nothing yet."
            query={{ userId: String(id) }}
            without="Who"
          />
          <Newest
            title="What was done to this user"
            empty="Nothing was done to this user yet."
            query={{ resourceId: String(id) }}
            without="To whom"
          />
        </>
      )}
    </Screen>
  );
};
