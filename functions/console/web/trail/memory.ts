/** What this browser remembers of the seal, so that it notices another chain. */
import type { SeenDigest } from './chain.ts';

/** What is remembered. */
export interface Memory {
  readonly key: string;
  /** When the key was seen first. */
  readonly since: string;
  /** The newest digest of the last verification that found nothing. */
  readonly seen?: SeenDigest;
}

const place = 'accounts-console-seal';

export const recall = (): Memory | undefined => {
  try {
    return JSON.parse(localStorage.getItem(place) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
};

/** Where the browser keeps nothing, each visit is the first. */
export const remember = (memory: Memory): Memory => {
  try {
    localStorage.setItem(place, JSON.stringify(memory));
  } catch {}
  return memory;
};
