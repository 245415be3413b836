/**
 * The audit entries of your own services, which the accounts service seals with its own entries
 * (functions/client/README.md, Audit entries of your own services).
 */
import { AccountsError } from './answer.ts';
import { type Fetch, targetOf } from './fetch.ts';
import { type Clock, systemClock } from './trail-clock.ts';
import { add, closeBatch, isFull, type Queue, queueOf } from './trail-queue.ts';
import { type Sender, store } from './trail-sender.ts';

/** An entry as the service takes it, which says of each field what is allowed. */
export interface TrailEntry {
  readonly action: 'CREATE' | 'READ' | 'UPDATE' | 'DELETE' | 'EXPORT';
  /** The kind of thing that it was done to, with a dot: `shop.orders`. */
  readonly resource: string;
  readonly result: 'SUCCESS' | 'FAILURE';
  readonly resourceId?: string | null | undefined;
  /** The id of the user who did it. */
  readonly userId?: number | null | undefined;
  readonly ipAddress?: string | null | undefined;
  readonly userAgent?: string | null | undefined;
  /** At most 2,048 bytes as JSON. Passwords, tokens and other secrets have no place here. */
  readonly details?: object | null | undefined;
  /** RFC 3339; by default the time of the call of `record`. */
  readonly occurredAt?: string | undefined;
}

export interface TrailOptions {
  /** The URL of the accounts service. */
  readonly url: string;
  /**
   * The key of a machine with the scope `audit:write`. A function is called before the first entries are sent, and
   * again after the service has refused its key. The trail waits for the function without a time limit.
   */
  readonly key: string | (() => string | Promise<string>);
  /**
   * Called with each entry that is not stored, and with the reason. It may be asynchronous; `flush` waits for it, so that
   * it must not wait for `flush`, and must not record in the same trail. By default, and where it fails, the entry is
   * written to the console as an error.
   */
  readonly onRefused?: ((entry: TrailEntry, error: AccountsError) => unknown) | undefined;
  /**
   * How often a batch is sent before its entries go to `onRefused`; by default 10, in one to three minutes. After a batch
   * that no response came for, batches that already waited are not sent, and a later one is sent once.
   */
  readonly attempts?: number | undefined;
  /** How many entries may wait in memory; by default 1,000. Further ones go to `onRefused`. */
  readonly maxWaiting?: number | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface Trail {
  /** Takes an entry, as it is now, to send it within about a second. It never throws. */
  readonly record: (entry: TrailEntry) => void;
  /**
   * Sends what waits. Resolves when all entries that were recorded before are stored, or were given to `onRefused`. It
   * never rejects. Await it before a process ends, and before a function of AWS Lambda returns.
   */
  readonly flush: () => Promise<void>;
}

/** Makes a trail; a service needs only one. It sends nothing until entries are recorded. */
export function createTrail(options: TrailOptions): Trail {
  return trailOf(options, systemClock);
}

/** As {@link createTrail}. @param clock the time, timers and chance */
export function trailOf(options: TrailOptions, clock: Clock): Trail {
  const state = stateOf(options, clock);
  return {
    record: (entry) => record(state, entry),
    flush: () => flush(state),
  };
}

interface State {
  readonly options: TrailOptions;
  readonly clock: Clock;
  readonly sender: Sender;
  readonly queue: Queue;
  /** The calls of `onRefused` that are not finished. */
  readonly told: Set<Promise<void>>;
}

const none = { failures: 0, outages: 0, flushes: 0 };

function stateOf(options: TrailOptions, clock: Clock): State {
  const told = new Set<Promise<void>>();
  const { key, attempts = 10, maxWaiting = 1000 } = options;
  const service = { ...targetOf(options), agent: 'accounts-client', source: {} };
  const refuse = (text: string, error: AccountsError) => tell(options, JSON.parse(text), error);
  const sender: Sender = { service, key, attempts, clock, refuse, ...none };
  const queue = queueOf(maxWaiting, clock, (texts) => {
    const { outages } = sender;
    return () => store(sender, texts, outages);
  });
  return { options, clock, sender, queue, told };
}

function record({ options, clock, queue, told }: State, entry: TrailEntry): void {
  const refuse = (refused: TrailEntry, code: string, message: string) => {
    const telling = tell(options, refused, new AccountsError(code, { message }));
    told.add(telling);
    void telling.then(() => told.delete(telling));
  };
  try {
    // It waits from now on, and keeps the time at which it happened.
    const occurredAt = entry.occurredAt ?? clock.now().toISOString();
    const text: string | undefined = JSON.stringify({ ...entry, occurredAt });
    if (text === undefined) throw new TypeError('its own toJSON returns nothing');
    if (isFull(queue)) refuse(JSON.parse(text), 'TRAIL_FULL', 'Too many entries wait to be sent');
    else if (!add(queue, text)) {
      refuse(JSON.parse(text), 'BODY_TOO_LARGE', 'The entry is larger than 64 KiB');
    }
  } catch (error) {
    refuse(entry, 'ENTRY_INVALID', `The entry cannot be written as JSON: ${error}`);
  }
}

async function flush({ queue, sender, told }: State): Promise<void> {
  closeBatch(queue);
  sender.flushes += 1;
  // A process that waits for this must not end while the sender pauses.
  sender.pause?.hold();
  await Promise.all([queue.settled, ...told]);
  sender.flushes -= 1;
}

/** Gives an entry to `onRefused`, or else to the console. Never rejects. */
async function tell(
  { onRefused }: TrailOptions,
  entry: TrailEntry,
  error: AccountsError,
): Promise<void> {
  try {
    if (!onRefused) throw error;
    await onRefused(entry, error);
  } catch (cause) {
    console.error('An audit entry was not stored:', entry, error.code, cause);
  }
}
