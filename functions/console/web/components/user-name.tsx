import { useEffect, useRef } from 'preact/hooks';
import { askOnce, knownOf } from '../trail/known-users.ts';
import { Person } from './person.tsx';

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const id = target instanceof HTMLElement && target.dataset.user;
    if (isIntersecting && id) askOnce(id);
  }
});

interface UserNameProps {
  /** A user's id, or the text to show in its place. */
  readonly id: string | number | null;
  readonly isLink?: boolean;
}

/** A user by the id, with further facts as soon as they are known. */
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
  return (
    <span ref={element} data-user={id}>
      <Person user={known} isLink={isLink} />
    </span>
  );
};
