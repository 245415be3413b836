import { useEffect, useRef } from 'preact/hooks';
import { api, Failure, send } from '../api.ts';
import { textOf } from '../format.ts';
import { href } from '../router.ts';
import { createStore, type Store } from '../store.ts';
import { createQueue } from '../trail/queue.ts';

interface Known {
  readonly name?: string;
  readonly isDeleted?: boolean;
}

/** What is known of users, by their ids: each is asked for once, when it is seen. */
const users = new Map<string, Store<Known>>();
const asked = new Set<string>();

/** Names may have changed since. */
export const forgetNames = (): void => {
  users.clear();
  asked.clear();
};

const knownOf = (id: string): Store<Known> => {
  const store = users.get(id) ?? createStore<Known>({});
  users.set(id, store);
  return store;
};

const queue = createQueue(6);

const ask = (id: string): void => {
  if (asked.has(id)) return;
  asked.add(id);
  const store = knownOf(id);
  queue(async () => {
    try {
      const params = { path: { id: Number(id) } };
      store.set({ name: (await send(api.GET('/api/users/{id}', { params }))).name });
    } catch (error) {
      if (error instanceof Failure && error.status === 404) store.set({ isDeleted: true });
      else asked.delete(id);
    }
  });
};

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const id = target instanceof HTMLElement && target.dataset.user;
    if (isIntersecting && id) ask(id);
  }
});

interface UserNameProps {
  /** A user's id; of what is none, the text is shown. */
  readonly id: unknown;
  /** Whether it leads to the user. */
  readonly isLink?: boolean;
}

/** The name of a user; `user 17` until it is known, or where it is not. */
export const UserName = ({ id: given, isLink = false }: UserNameProps) => {
  const element = useRef<HTMLSpanElement>(null);
  const id = textOf(given);
  const { name = `user ${id}`, isDeleted } = knownOf(id).use();
  const isUser = /^\d+$/.test(id);
  useEffect(() => {
    const { current } = element;
    if (!current || !isUser) return undefined;
    seen.observe(current);
    return () => seen.unobserve(current);
  }, [id]);
  if (!isUser) return <span class="muted">{given === null ? 'unknown' : id}</span>;
  if (isDeleted) return <span class="muted">deleted user {id}</span>;
  return (
    <span ref={element} data-user={id}>
      {isLink ? <a href={href(`/users/${id}`)}>{name}</a> : name}
    </span>
  );
};
