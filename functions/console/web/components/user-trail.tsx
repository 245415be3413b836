import { usePages } from '../loading.ts';
import { href } from '../router.ts';
import { readState } from '../trail/query.ts';
import { readPage } from '../trail/read.ts';
import { Entries } from './entries.tsx';

const shown = 5;

interface NewestProps {
  readonly title: string;
  readonly empty: string;
  readonly query: Readonly<Record<string, string>>;
  readonly other: 'who' | 'whom';
}

/** The newest entries of a query, and a link to all of them. */
const Newest = ({ title, empty, query, other }: NewestProps) => {
  const pages = usePages(JSON.stringify(query), () => readPage(readState(query)));
  return (
    <section class="trail">
      <div class="title">
        <h2>{title}</h2>
        <a href={href('/audit', query)} aria-label={`All entries: ${title}`}>
          All entries
        </a>
      </div>
      <Entries
        pages={{ ...pages, rows: pages.rows?.slice(0, shown), more: undefined }}
        caption={title}
        empty={empty}
        columns={['time', 'action', 'result', other, 'source', 'agent']}
      />
    </section>
  );
};

/** What a user did, and what was done to it. */
export const UserTrail = ({ id }: { id: number }) => (
  <>
    <Newest
      title="What this user did"
      empty="This user has done nothing yet."
      query={{ userId: String(id) }}
      other="whom"
    />
    <Newest
      title="What was done to this user"
      empty="Nothing was done to this user yet."
      query={{ resourceId: String(id) }}
      other="who"
    />
  </>
);
