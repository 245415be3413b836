import { useEffect, useRef } from 'preact/hooks';
import { api, Failure, send } from '../api.ts';
import { href } from '../router.ts';
import { createStore, type Store } from '../store.ts';

/** A user's name; null: the user is deleted; undefined: not known. */
type Known = string | null | undefined;

/** What is known of users, by their ids: each is asked for once, when it is seen. */
const users = new Map<string, Store<Known>>();
const asked = new Set<string>();

/** Names may have changed since. */
export const forgetNames = (): void => {
  users.clear();
  asked.clear();
};

const knownOf = (id: string): Store<Known> => {
  const store = users.get(id) ?? createStore<Known>(undefined);
  users.set(id, store);
  return store;
};

/** Six requests at a time at most: each waits for the sixth before it. */
const underWay: Promise<void>[] = [];

const ask = async (id: string, before: Promise<void> | undefined): Promise<void> => {
  await before;
  const store = knownOf(id);
  try {
    store.set(
      (await send(api.GET('/api/users/{id}', { params: { path: { id: Number(id) } } }))).name,
    );
  } catch (error) {
    if (error instanceof Failure && error.status === 404) store.set(null);
    else asked.delete(id);
  }
};

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const id = target instanceof HTMLElement && target.dataset.user;
    if (!isIntersecting || !id || asked.has(id)) continue;
    asked.add(id);
    underWay.push(ask(id, underWay.at(-6)));
  }
});

interface UserNameProps {
  /** A user's id, or what stands in its place. */
  readonly id: string | number | null;
  /** Whether it leads to the user. */
  readonly isLink?: boolean;
}

/** The name of a user; `user 17` until it is known, or where it is not. */
export const UserName = ({ id: given, isLink = false }: UserNameProps) => {
  const element = useRef<HTMLSpanElement>(null);
  const id = String(given ?? 'unknown');
  const name = knownOf(id).use();
  const isUser = /^\d+$/.test(id);
  useEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    seen.observe(current);
    return () => seen.unobserve(current);
  }, [id]);
  if (!isUser) return <span class="muted">{id}</span>;
  if (name === null) return <span class="muted">deleted user {id}</span>;
  const text = name ?? `user ${id}`;
  return (
    <span ref={element} data-user={id}>
      {isLink ? <a href={href(`/users/${id}`)}>{text}</a> : text}
    </span>
  );
};
