/** Requests of components: their data, their failures, and whether they are under way. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ConsoleError, type Page } from './api.ts';

export const failureOf = (error: unknown): ConsoleError => {
  if (error instanceof ConsoleError) return error;
  // A defect of the console itself: it is shown too, and in the browser's console with its stack.
  console.error(error);
  return new ConsoleError('The console itself has failed. Load the page again.');
};

export interface Action<Arguments extends unknown[]> {
  /** Ignores calls while the action is under way, so that nothing is done twice. */
  run(...given: Arguments): Promise<void>;
  readonly isBusy: boolean;
  readonly failure: ConsoleError | undefined;
}

export const useAction = <Arguments extends unknown[]>(
  act: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> => {
  const [failure, setFailure] = useState<ConsoleError>();
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = async (...given: Arguments) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setFailure(undefined);
    try {
      await act(...given);
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return { run, isBusy, failure };
};

/** Repeats an action while `isOn`. @param pause milliseconds from one call to the next */
export const useEvery = (pause: number, act: () => void, isOn = true): void => {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => latest.current(), pause);
    return () => clearInterval(timer);
  }, [isOn, pause]);
};

export interface Loading<Data> {
  /** The data that was loaded last; it stays while it is loaded again. */
  readonly data: Data | undefined;
  readonly isBusy: boolean;
  readonly failure: ConsoleError | undefined;
  /** Resolves when the data is loaded, or loading has failed. */
  reload(): Promise<void>;
}

interface Loaded<Data> extends Loading<Data> {
  /** Changes the loaded data, unless other data is loaded meanwhile. */
  update(change: (data: Data) => Data): void;
}

interface State<Data> {
  readonly key: string;
  readonly data?: Data | undefined;
  readonly failure?: ConsoleError | undefined;
  readonly isBusy: boolean;
}

/**
 * Loads the data that a component shows, and again whenever the key changes. A response is dropped if a later
 * load has begun.
 * @param load may show data before all is loaded; `show` returns false once nobody waits for more
 */
export const useLoad = <Data>(
  key: string,
  load: (show: (data: Data) => boolean) => Promise<Data>,
): Loaded<Data> => {
  const [state, setState] = useState<State<Data>>({ key, isBusy: true });
  const newest = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(async () => {
    newest.current += 1;
    const own = newest.current;
    const keep = (outcome: Partial<State<Data>>): boolean => {
      if (own !== newest.current) return false;
      setState((before) => ({ isBusy: true, ...(before.key === key && before), ...outcome, key }));
      return true;
    };
    keep({ isBusy: true });
    const outcome = await latest
      .current((data) => keep({ data }))
      .then(
        (data) => ({ data, failure: undefined }),
        (error) => ({ failure: failureOf(error) }),
      );
    keep({ ...outcome, isBusy: false });
  }, [key]);
  useEffect(() => {
    void reload();
    return () => {
      newest.current += 1;
    };
  }, [reload]);
  const { data, failure, isBusy } = state.key === key ? state : { isBusy: true };
  return {
    data,
    failure,
    isBusy,
    reload,
    update: (change) =>
      setState((before) =>
        before.key === key && before.data !== undefined
          ? { ...before, data: change(before.data), failure: undefined }
          : before,
      ),
  };
};

export interface Pages<Row> extends Loaded<Page<readonly Row[]>> {
  readonly rows: readonly Row[] | undefined;
  /** Loads the next page; absent if there is no next page. */
  readonly more: Action<[]> | undefined;
}

/**
 * Loads a list page by page.
 * @param load gets the first page, or the page at a path
 * @param least how many rows are loaded at first, if there are that many
 */
export const usePages = <Row>(
  key: string,
  load: (path?: string) => Promise<Page<readonly Row[]>>,
  least = 0,
): Pages<Row> => {
  const lengthen = async (page: Page<readonly Row[]>) => {
    const next = await load(page.next);
    return { ...next, data: [...page.data, ...next.data] };
  };
  const loaded = useLoad(key, async () => {
    let page = await load();
    while (page.next && page.data.length < least) page = await lengthen(page);
    return page;
  });
  const { data } = loaded;
  const more = useAction(async () => {
    if (!data?.next) return;
    const longer = await lengthen(data);
    loaded.update((current) => (current === data ? longer : current));
  });
  return { ...loaded, rows: data?.data, more: data?.next ? more : undefined };
};
