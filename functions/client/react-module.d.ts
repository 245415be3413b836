/** The one function of React that is used. React's own types need the DOM's types, which this project does not use. */
declare module 'react' {
  export function useSyncExternalStore<Snapshot>(
    subscribe: (changed: () => void) => () => void,
    getSnapshot: () => Snapshot,
    getServerSnapshot: () => Snapshot,
  ): Snapshot;
}
