import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, vi } from 'vitest';
import { type ApiAnswer, type ApiClient, logIn } from './client.ts';
import { startTestService, type TestService } from './service.ts';

export interface AcceptanceService extends TestService {
  readonly adminToken: string;
}

/**
 * A service for the tests of one file, which awaits it at its top. The service ends with the file.
 *
 * The tests in test/functions also run against one deployed service, which all files share at the same time: these
 * tests look only at users and entries of their own. Together they fail to log in some thirty times; after a thousand
 * failures from one address the service would make them wait.
 */
export const serviceForThisFile = async (
  ...settings: Parameters<typeof startTestService>
): Promise<AcceptanceService> => {
  const service = await startTestService(...settings);
  afterAll(() => service.stop());
  return { ...service, adminToken: await logIn(service.api, service.admin) };
};

/** A response as it is compared with a refusal: its status and its whole body. */
export const outcome = ({ status, body }: ApiAnswer): readonly [number, unknown] => [status, body];

export const refusal = (status: number, message: unknown): readonly [number, unknown] => [
  status,
  { message },
];

/** The path in the Link header of a response. */
export const nextPage = ({ headers }: ApiAnswer): string | undefined =>
  /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];

/** A page of a list, and the path from which it was read. */
export interface ListPage {
  readonly path: string;
  readonly answer: ApiAnswer;
}

/** The pages of a list, from the page at a path to the last page, or as many pages as are requested. */
export const readPages = async (
  api: ApiClient,
  path: string,
  { token, most = 1000 }: { token: string; most?: number },
): Promise<readonly ListPage[]> => {
  const pages: ListPage[] = [];
  let next: string | undefined = path;
  while (next && pages.length < most) {
    const answer: ApiAnswer = await api('GET', next, { token });
    pages.push({ path: next, answer });
    next = nextPage(answer);
  }
  return pages;
};

export interface ListedUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly created_at: string;
}

export const listUsers = async (api: ApiClient, token: string): Promise<readonly ListedUser[]> => {
  const pages = await readPages(api, '/api/users', { token });
  return pages.flatMap(({ answer }) => answer.body);
};

export const isoTimestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Stops the clock of the services in this process until the test ends, so that no waiting time ends meanwhile. */
export const stopClock = (): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
};

/** A user agent by which a test finds the audit entries of its own requests. */
export const uniqueAgent = (): string => `test/${randomUUID()}`;

/**
 * The audit entries that were left under a user agent, oldest first. They are among the newest entries, even where
 * other tests leave some at the same time.
 * @param most how many pages are read
 * @param limit how many entries a page has
 */
export const entriesOf = async (
  { api, adminToken }: AcceptanceService,
  agent: string,
  { most = 3, limit = 100 } = {},
): Promise<readonly Record<string, unknown>[]> => {
  const path = `/api/admin/audit-logs?limit=${limit}`;
  const pages = await readPages(api, path, { token: adminToken, most });
  const entries: { user_agent: string | null }[] = pages.flatMap(({ answer }) => answer.body.data);
  return entries.filter(({ user_agent }) => user_agent === agent).reverse();
};
