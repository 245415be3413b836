import { useEffect, useRef } from 'preact/hooks';
import { api, Failure, send } from '../api.ts';
import type { AuditEntry } from '../contract.d.ts';
import { href } from '../router.ts';
import { createStore, type Store } from '../store.ts';
import { detailsOf } from '../trail/happened.ts';

/** What is known of a user. */
interface Known {
  readonly name?: string | undefined;
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

/** Six requests at a time at most: each waits for the sixth before it. */
const underWay: Promise<void>[] = [];

const ask = async (id: string, before: Promise<void> | undefined): Promise<void> => {
  await before;
  const store = knownOf(id);
  try {
    const { name } = await send(
      api.GET('/api/users/{id}', { params: { path: { id: Number(id) } } }),
    );
    store.set({ name });
  } catch (error) {
    if (error instanceof Failure && error.status === 404)
      store.set({ ...store.get(), isDeleted: true });
    else asked.delete(id);
  }
};

/** Learns who is deleted, and the names that entries of deletions have in full detail. */
export const tellNames = (entries: readonly AuditEntry[]): void => {
  for (const entry of entries) {
    const { action, resource, result, resource_id: id } = entry;
    if (id === null || `${action} ${resource} ${result}` !== 'DELETE users SUCCESS') continue;
    const { name } = detailsOf(entry);
    asked.add(String(id));
    knownOf(String(id)).set({ name: typeof name === 'string' ? name : undefined, isDeleted: true });
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

/** What is known of a user by now, for a component. */
export const useKnown = (id: number): Known => knownOf(String(id)).use();

interface UserNameProps {
  /** A user's id, or what stands in its place. */
  readonly id: string | number | null;
  /** Whether it leads to the user. */
  readonly isLink?: boolean;
}

/** The name of a user; `User 17` until it is known, or where it is not. */
export const nameOf = (id: string | number, { name, isDeleted }: Known): string =>
  `${name ?? `User ${id}`}${isDeleted ? ' (deleted)' : ''}`;

export const UserName = ({ id: given, isLink = false }: UserNameProps) => {
  const element = useRef<HTMLSpanElement>(null);
  const id = String(given ?? 'unknown');
  const known = knownOf(id).use();
  const isUser = /^\d+$/.test(id);
  useEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    seen.observe(current);
    return () => seen.unobserve(current);
  }, [id]);
  if (!isUser) return <span class="muted">{id}</span>;
  const text = nameOf(id, known);
  return (
    <span ref={element} data-user={id} class={known.isDeleted ? 'muted' : undefined}>
      {isLink ? <a href={href(`/users/${id}`)}>{text}</a> : text}
    </span>
  );
};
