import { randomUUID } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { type ApiAnswer, type ApiClient, logIn } from './client.ts';
import { startTestService, type TestService } from './service.ts';

export interface AcceptanceService extends TestService {
  readonly adminToken: string;
}

/** A service for the tests of one file, which awaits it at its top; it ends with the file. */
export const serviceForThisFile = async (
  environment?: Readonly<Record<string, string>>,
): Promise<AcceptanceService> => {
  const service = await startTestService(environment);
  afterAll(() => service.stop());
  return { ...service, adminToken: await logIn(service.api, service.admin) };
};

/** An answer as a refusal is compared: nothing but its status and the whole of its body. */
export const outcome = ({ status, body }: ApiAnswer): readonly [number, unknown] => [status, body];

export const refusal = (status: number, message: string): readonly [number, unknown] => [
  status,
  { message },
];

/** The path that an answer's Link header leads to. */
export const nextPage = ({ headers }: ApiAnswer): string | undefined =>
  /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];

/** Pages of a list that are followed at most. */
const maxPages = 200;

/** Everything that a list holds, page by page. */
export const readList = async <T>(
  api: ApiClient,
  path: string,
  { token, entries }: { token: string; entries: (answer: ApiAnswer) => readonly T[] },
): Promise<readonly T[]> => {
  const found: T[] = [];
  let next: string | undefined = path;
  for (let page = 0; next && page < maxPages; page += 1) {
    const answer: ApiAnswer = await api('GET', next, { token });
    found.push(...entries(answer));
    next = nextPage(answer);
  }
  return found;
};

export interface ListedUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly created_at: string;
}

export const listUsers = (api: ApiClient, token: string): Promise<readonly ListedUser[]> =>
  readList(api, '/api/users', { token, entries: ({ body }) => body });

export const isoTimestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** A user agent by which a test finds the audit entries of its own requests. */
export const uniqueAgent = (): string => `test/${randomUUID()}`;

/** The newest audit entries that were left under a user agent, oldest first. */
export const entriesOf = async (
  { api, adminToken }: AcceptanceService,
  agent: string,
): Promise<readonly Record<string, unknown>[]> => {
  const { body } = await api('GET', '/api/admin/audit-logs', { token: adminToken });
  const entries: readonly { user_agent: string | null }[] = body.data;
  return entries.filter(({ user_agent }) => user_agent === agent).reverse();
};
