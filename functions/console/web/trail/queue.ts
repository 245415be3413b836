/**
 * Runs work in its order, so much of it at a time.
 * @returns takes work, which must not throw
 */
export const createQueue = (width: number): ((work: () => Promise<void>) => void) => {
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;
  const runNext = async () => {
    const work = running < width ? waiting.shift() : undefined;
    if (!work) return;
    running += 1;
    await work();
    running -= 1;
    void runNext();
  };
  return (work) => {
    waiting.push(work);
    void runNext();
  };
};
