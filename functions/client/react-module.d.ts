/** The one function of React that is used; its own types declare names of the DOM, which nothing here has. */
declare module 'react' {
  export function useSyncExternalStore<Snapshot>(
    subscribe: (changed: () => void) => () => void,
    getSnapshot: () => Snapshot,
    getServerSnapshot: () => Snapshot,
  ): Snapshot;
}
