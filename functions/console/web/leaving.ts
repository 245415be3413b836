/** Asks before something is left that would be lost: with its place, its dialog, its session or the tab. */
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Says what would be lost with a part of the page, as a question; nothing is: undefined. */
type Ask = (part: Node) => string | undefined;

const asks = new Set<Ask>();

/** Has whoever leaves asked, for as long as a component is drawn. */
export const useAsk = (ask: Ask): void => {
  const latest = useRef(ask);
  latest.current = ask;
  useLayoutEffect(() => {
    const own: Ask = (part) => latest.current(part);
    asks.add(own);
    return () => void asks.delete(own);
  }, []);
};

const questionOf = (part: Node): string | undefined =>
  [...asks].map((ask) => ask(part)).find((question) => question !== undefined);

/** Whether a part of the page may be left: nothing would be lost, or whoever leaves wants it so. */
export const mayLeave = (part: Node = document): boolean => {
  const question = questionOf(part);
  return question === undefined || confirm(question);
};

addEventListener('beforeunload', (event) => {
  if (questionOf(document) !== undefined) event.preventDefault();
});
