import { Session } from 'node:inspector/promises';

/** What bcryptjs calls twice in each of a hash's 2^cost rounds. */
const keySchedule = '_key';

/** The rounds of bcrypt that this process computes meanwhile, counted by V8. */
export const countRounds = async (work: () => Promise<unknown>): Promise<number> => {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const calls = result
      .filter(({ url }) => url.includes('/bcryptjs/'))
      .flatMap(({ functions }) => functions)
      .filter(({ functionName }) => functionName === keySchedule)
      .map(({ ranges: [range] }) => range?.count ?? 0);
    return calls.reduce((sum, count) => sum + count, 0) / 2;
  } finally {
    session.disconnect();
  }
};
