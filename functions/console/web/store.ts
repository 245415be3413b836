import { useLayoutEffect, useReducer } from 'preact/hooks';

/** A value that several components show: each component that uses it is drawn again when it changes. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** The value, for a component. */
  use(): T;
}

export const createStore = <T>(initial: T): Store<T> => {
  let value = initial;
  const listeners = new Set<(action: undefined) => void>();
  return {
    get: () => value,
    set: (next) => {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener(undefined);
    },
    use: () => {
      const [, redraw] = useReducer((count: number) => count + 1, 0);
      useLayoutEffect(() => {
        listeners.add(redraw);
        return () => void listeners.delete(redraw);
      }, [listeners]);
      return value;
    },
  };
};
