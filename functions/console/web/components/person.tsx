import type { ComponentChildren } from 'preact';
import { href } from '../router.ts';
import type { Known } from '../trail/known-users.ts';
import { tell } from './notice.tsx';
import { Badge, Whole } from './text.tsx';

interface PersonProps {
  readonly user: Known;
  readonly isLink?: boolean;
  readonly onClick?: (event: { readonly currentTarget: Element }) => void;
}

/** A user in a sentence: the name, which may be any text, and the id, which nobody else has. */
export const Named = ({ user: { id, name }, isLink, onClick }: PersonProps) => {
  const text = (
    <>
      {name !== undefined && <bdi>{name}</bdi>} <span class="id">#{id}</span>
    </>
  );
  if (!isLink) return <span class="person">{text}</span>;
  return (
    <a class="person" href={href(`/users/${id}`)} onClick={onClick}>
      {text}
    </a>
  );
};

/** A user as all screens show users, with badges that no name can imitate. */
export const Person = (props: PersonProps) => {
  const { role, auditor, suspended_at: suspendedAt, isDeleted, isUnknown } = props.user;
  return (
    <span>
      <Named {...props} /> {isDeleted && <Badge kind="bad">Deleted</Badge>}
      {isUnknown && <Badge>Unknown</Badge>}
      {!isDeleted && role === 'admin' && <Badge kind="strong">Admin</Badge>}{' '}
      {!isDeleted && auditor && <Badge kind="strong">Auditor</Badge>}{' '}
      {!isDeleted && suspendedAt && <Badge kind="bad">Suspended</Badge>}
    </span>
  );
};

/** A user with the address, which distinguishes users with the same name. */
export const PersonWithAddress = ({ user }: { user: Known & { readonly email: string } }) => (
  <>
    <Person user={user} /> <Whole text={`(${user.email})`} />
  </>
);

export const sentenceOf = (user: Known, rest: string): ComponentChildren => (
  <>
    <Named user={user} /> {rest}
  </>
);

/** Shows the outcome of an action on a user. @param done the rest of the sentence after the user's name */
export const tellOf = (user: Known, done: string): void => tell(sentenceOf(user, done));
