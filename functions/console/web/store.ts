import { useLayoutEffect, useReducer } from 'preact/hooks';

/** A value whose components are drawn again when it changes. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** As a hook of a component. */
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
