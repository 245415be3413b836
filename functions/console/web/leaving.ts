/** Asks before typed text is lost because its place, its dialog, its session or the tab is left. */
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The question that says what would be lost with a part of the page; undefined: nothing would be lost. */
type Ask = (part: Node) => string | undefined;

const asks = new Set<Ask>();

/** Asks users who want to leave, for as long as a component is shown. */
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

/** Whether a part of the page may be left: nothing would be lost, or the user agrees. */
export const mayLeave = (part: Node = document): boolean => {
  const question = questionOf(part);
  return question === undefined || confirm(question);
};

addEventListener('beforeunload', (event) => {
  if (questionOf(document) !== undefined) event.preventDefault();
});
