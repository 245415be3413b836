/** Goes through all pages of a list, which takes a while, and can be stopped. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Failure, Page } from './api.ts';
import { useAction } from './loading.ts';

interface Walk {
  readonly state: 'ready' | 'running' | 'stopped' | 'done';
  /** Why it does not go on. It goes on where it was when it is started again. */
  readonly failure: Failure | undefined;
  start(): void;
  /** What is under way is dropped. */
  stop(): void;
  /** The next start begins at the first page. */
  reset(): void;
}

/**
 * @param load gets the first page, or the one at a path
 * @param take gets each page in its order, and whether it is the last one @returns whether to go on
 */
export const useWalk = <Data>(
  load: (path: string | undefined, signal: AbortSignal) => Promise<Page<Data>>,
  take: (data: Data, isLast: boolean) => Promise<boolean> | boolean,
): Walk => {
  const [state, setState] = useState<Walk['state']>('ready');
  const next = useRef<string | undefined>(undefined);
  const abort = useRef(new AbortController());
  const walk = async ({ signal }: AbortController) => {
    for (let goesOn = true; goesOn; ) {
      const page = await load(next.current, signal);
      if (signal.aborted) return;
      next.current = page.next;
      goesOn = (await take(page.data, !page.next)) && page.next !== undefined;
    }
    if (!signal.aborted) setState('done');
  };
  const action = useAction(async () => {
    const own = new AbortController();
    abort.current = own;
    setState('running');
    await walk(own).catch((error) => {
      if (own.signal.aborted) return;
      setState('stopped');
      throw error;
    });
  });
  useEffect(() => () => abort.current.abort(), []);
  return {
    state,
    failure: action.failure,
    start: () => void action.run(),
    stop: () => {
      abort.current.abort();
      setState('stopped');
    },
    reset: () => {
      next.current = undefined;
      setState('ready');
    },
  };
};
