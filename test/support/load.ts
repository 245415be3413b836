import { setTimeout as sleep } from 'node:timers/promises';
import { logIn, uniqueEmail } from './client.ts';
import type { TestService } from './service.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

const connections = 3;
/** Milliseconds between the requests of a connection, because other tests need the processor too. */
const pause = 50;
/** The most requests of a connection: far more than a test can send in its time. */
const maxRequests = 10_000;

/** Registers users on several connections at once, whatever the responses. */
export const startLoad = ({ api }: Pick<TestService, 'api'>) => {
  /** The registrations whose response was 201, so far. */
  const acknowledged: Credentials[] = [];
  /** The registrations without a response yet. */
  const underWay = new Set<Credentials>();
  let going = true;
  const work = async () => {
    for (let request = 0; going && request < maxRequests; request += 1) {
      const json = { name: 'n', email: uniqueEmail(), password: 'pass-word' };
      underWay.add(json);
      const answer = await api('POST', '/api/auth/register', { json }).catch(() => undefined);
      underWay.delete(json);
      if (answer?.status === 201) acknowledged.push(json);
      await sleep(pause);
    }
  };
  const working = Array.from({ length: connections }, work);
  return {
    acknowledged,
    underWay,
    stop: async () => {
      going = false;
      await Promise.all(working);
      return acknowledged;
    },
  };
};

/** The registered users who cannot log in, with the responses to their logins. */
export const lostAmong = async (
  { api }: Pick<TestService, 'api'>,
  acknowledged: readonly Credentials[],
): Promise<readonly { email: string; answer: string }[]> => {
  const lost: { email: string; answer: string }[] = [];
  for (const { email, password } of acknowledged) {
    await logIn(api, { email, password }).catch(({ message }: Error) =>
      lost.push({ email, answer: message }),
    );
  }
  return lost;
};
