const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Does a step of the rehearsal, and prints how long it took and what it found. */
export const step = async <T>(
  title: string,
  work: () => Promise<T>,
  finding: (result: T) => string = () => '',
): Promise<T> => {
  const begun = performance.now();
  console.log(`== ${title}`);
  const result = await work();
  const found = finding(result);
  console.log(`   ${seconds(begun)}${found && `: ${found}`}`);
  return result;
};

/** @throws {Error} with the text `otherwise`, when a condition does not hold */
export const requireThat = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise);
};

const seen: string[] = [];

/** Notes the id of a request to which AWS, or the emulator, has responded. */
export const saw = (requestId: string): void => {
  seen.push(requestId);
};

/** The ids that were noted since the last call. */
export const takeSeen = (): readonly string[] => seen.splice(0);
