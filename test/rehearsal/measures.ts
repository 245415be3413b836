/** Measurements of a deployed service: latency, load and throttles. */
import { setTimeout as wait } from 'node:timers/promises';
import { type ApiAnswer, type ApiClient, logIn } from '../support/client.ts';
import { until } from '../support/until.ts';
import type { Deployed } from './proof.ts';
import { resourceOf } from './seal.ts';
import { requireThat } from './step.ts';

type Send = () => Promise<ApiAnswer>;

/** How many requests are sent; at the emulator only a few, because its times mean nothing. */
const counts = {
  AWS: { cold: 20, warm: 200, logins: 200, profiles: 2000 },
  'the emulator': { cold: 2, warm: 10, logins: 20, profiles: 100 },
} as const;

/**
 * Requests a second far above the throttles of a proof (stack.ts), and far below them; and the seconds of each rate.
 */
const rates = { above: 500, below: 5, seconds: 6 };

/** Sends requests at a rate. @returns the status of each */
const sendAt = async (send: Send, perSecond: number, count: number): Promise<readonly number[]> => {
  const begun = performance.now();
  const sent: Promise<number>[] = [];
  for (let n = 0; n < count; n += 1) {
    await wait(Math.max(0, begun + (n * 1000) / perSecond - performance.now()));
    sent.push(send().then(({ status }) => status));
  }
  return Promise.all(sent);
};

const refusedIn = (statuses: readonly number[]): number =>
  statuses.filter((status) => status === 429).length;

export const tryThrottles = async ({ deployment: { api } }: Deployed): Promise<string> => {
  const send = () => api('GET', '/api/profile');
  const { above, below, seconds } = rates;
  const many = refusedIn(await sendAt(send, above, above * seconds));
  // By then the burst capacity is full again.
  await wait(10_000);
  const few = refusedIn(await sendAt(send, below, below * seconds));
  requireThat(many > 0, `None of ${above * seconds} requests was refused at ${above} a second`);
  requireThat(few === 0, `${few} requests were refused at ${below} a second`);
  return `at ${above} a second ${many} of ${above * seconds} were refused, at ${below} none`;
};

interface Route {
  /** The beginning of the logical id of its function. */
  readonly id: string;
  readonly send: Send;
}

const routesOf = (api: ApiClient, { admin }: Deployed, token: string): readonly Route[] => [
  { id: 'ProfileGet', send: () => api('GET', '/api/profile', { token }) },
  { id: 'AuthLogin', send: () => api('POST', '/api/login', { json: admin }) },
  { id: 'UsersList', send: () => api('GET', '/api/users?limit=1', { token }) },
  { id: 'AuditLogsList', send: () => api('GET', '/api/admin/audit-logs?limit=1', { token }) },
  { id: 'Docs', send: () => api('GET', '/openapi.json') },
];

/** Sends a request. @returns the milliseconds that it took */
const timed = async ({ id, send }: Route): Promise<number> => {
  const begun = performance.now();
  const { status, text } = await send();
  requireThat(status === 200, `${id} answered ${status} ${text}`);
  return performance.now() - begun;
};

const percentile = (times: readonly number[], part: number): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(0);
};

const figures = (times: readonly number[]): string =>
  `${percentile(times, 0.5)} (p95 ${percentile(times, 0.95)})`;

export const measureLatency = async (made: Deployed): Promise<string> => {
  const { place, api } = made.deployment;
  const { cold, warm } = counts[place.name];
  const token = await logIn(api, made.admin);
  const lines: string[] = [];
  for (const route of routesOf(api, made, token)) {
    const first = await measureCold(made, route, cold);
    const later: number[] = [];
    while (later.length < warm) later.push(await timed(route));
    lines.push(`${route.id} cold ${figures(first)}, warm ${figures(later)}`);
  }
  return `milliseconds: ${lines.join('; ')}`;
};

/** Each change of a function's variables makes the next call start a new instance. */
const measureCold = async (
  { deployment }: Deployed,
  route: Route,
  count: number,
): Promise<readonly number[]> => {
  const { call } = deployment.place;
  const FunctionName = await resourceOf(deployment, 'AWS::Lambda::Function', route.id);
  const configured = () => call('lambda', 'get_function_configuration', { FunctionName });
  const { Environment } = await configured();
  const change = async (Variables: object) => {
    const changed = { FunctionName, Environment: { Variables } };
    await call('lambda', 'update_function_configuration', changed);
    const isReady = async () => (await configured()).LastUpdateStatus !== 'InProgress';
    await until(isReady, `${FunctionName} is never ready`);
  };
  const times: number[] = [];
  while (times.length < count) {
    await change({ ...Environment.Variables, COLD_START: String(times.length) });
    times.push(await timed(route));
  }
  await change(Environment.Variables);
  return times;
};

/** Requests a second, below the throttles of a proof. */
const steady = { logins: 20, profiles: 60 };

export const putLoad = async ({ deployment, admin }: Deployed): Promise<string> => {
  const { api, place } = deployment;
  const { logins, profiles } = counts[place.name];
  const token = await logIn(api, admin);
  const requests = [
    ['logins', logins, () => api('POST', '/api/login', { json: admin })],
    ['profiles', profiles, () => api('GET', '/api/profile', { token })],
  ] as const;
  const lines: string[] = [];
  for (const [name, count, send] of requests) {
    const times: number[] = [];
    const timing = async () => {
      const begun = performance.now();
      const answer = await send();
      times.push(performance.now() - begun);
      return answer;
    };
    const statuses = await sendAt(timing, steady[name], count);
    const others = statuses.filter((status) => status !== 200);
    requireThat(others.length === 0, `${others.length} of ${count} ${name} answered ${others}`);
    lines.push(`${count} ${name} in ${figures(times)} ms`);
  }
  return lines.join(', ');
};
