/** The entries of a trail that wait, in batches: each is one request, and the next one begins when it is settled. */
import type { Clock } from './trail-clock.ts';

export interface Queue {
  readonly maxWaiting: number;
  readonly clock: Clock;
  /** Takes the entries of a batch, as JSON, when it is closed. @returns a function that sends them, and never rejects */
  readonly close: (texts: readonly string[]) => () => Promise<void>;
  /** The entries of the batch that is not closed yet, and the bytes of its body. */
  open: string[];
  bytes: number;
  /** How many entries are not settled, the open batch included. */
  waiting: number;
  isTimed: boolean;
  /** Resolves when all batches that are closed now are settled. */
  settled: Promise<void>;
}

export function queueOf(maxWaiting: number, clock: Clock, close: Queue['close']): Queue {
  const settled = Promise.resolve();
  const empty = { open: [], bytes: frame, waiting: 0, isTimed: false, settled };
  return { maxWaiting, clock, close, ...empty };
}

export function isFull({ waiting, maxWaiting }: Queue): boolean {
  return !(waiting < maxWaiting);
}

/** The body of a batch (functions/client/README.md, Audit entries of your own services). */
export function bodyOf(texts: readonly string[]): string {
  return `{"entries":[${texts.join(',')}]}`;
}

/** Adds an entry to the open batch. @returns whether it fits into a body */
export function add(queue: Queue, text: string): boolean {
  const bytes = encoder.encode(text).length + 1;
  if (frame + bytes > maxBytes) return false;
  if (queue.bytes + bytes > maxBytes) closeBatch(queue);
  queue.open.push(text);
  queue.bytes += bytes;
  queue.waiting += 1;
  if (queue.open.length === maxEntries) closeBatch(queue);
  else closeLater(queue);
  return true;
}

/** Closes the open batch, which is then sent after the batches before it. */
export function closeBatch(queue: Queue): void {
  const texts = queue.open;
  if (texts.length === 0) return;
  queue.open = [];
  queue.bytes = frame;
  const send = queue.close(texts);
  queue.settled = queue.settled.then(async () => {
    await send();
    queue.waiting -= texts.length;
  });
}

const encoder = new TextEncoder();

const maxEntries = 25;

/** The bytes of a body, and of a body without entries. The comma that no entry follows is counted too. */
const maxBytes = 64 * 1024;
const frame = bodyOf([]).length;

/** Milliseconds for which an entry waits for others. */
const patience = 1000;

function closeLater(queue: Queue): void {
  if (queue.isTimed) return;
  queue.isTimed = true;
  queue.clock.later(() => {
    queue.isTimed = false;
    const before = queue.settled;
    // While others are sent, it goes on to fill.
    void before.then(() => {
      if (queue.settled === before) closeBatch(queue);
    });
  }, patience);
}
