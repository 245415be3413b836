import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../../infra/local/engine.ts';
import { bundle } from '../../../infra/stack/bundling/bundle.ts';
import { functions } from '../../../infra/uses.ts';
import type { Handler } from '../../../lib/http/request.ts';
import { chosenEngine } from '../../support/engine.ts';
import { gatewayEvent } from '../../support/event.ts';
import { startProxy } from '../../support/proxy.ts';
import { bundlesIn } from '../cold/bundle.ts';
import { deploy } from '../cold/deployment.ts';
import type * as bareCalls from '../requests/bare-calls.ts';

const query = 'audit-logs-list';
const names = ['audit-logs-create', query, 'auth-login', 'profile-get', 'users-create'];

/**
 * An engine, and functions on it, bundled as they are deployed: `counted` is the audit query behind a proxy that counts
 * its reads.
 */
export async function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-post-'));
  const engine = await startEngine({ only: chosenEngine() });
  const proxy = await startProxy(engine.endpoint, { measure: true });
  const deployment = await deploy(engine.endpoint);
  const measured = functions.filter(({ name }) => names.includes(name));
  Object.assign(process.env, ...measured.map(deployment.environmentOf));
  globalThis.patience = 10;
  const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = process.env;
  const sources = [
    ...measured.map(({ name, entry }) => ({ name, entry })),
    { name: 'counted', entry: measured.find(({ name }) => name === query)?.entry ?? '' },
    { name: 'bare', entry: 'test/bench/requests/bare-calls.ts' },
  ];
  const require = createRequire(import.meta.url);
  const files = bundlesIn(folder, sources, bundle(sources, folder));
  const load = (wanted: string) => require(files.find(({ name }) => name === wanted)?.file ?? '');
  const bare: typeof bareCalls = load('bare');

  /** Sends a request to a function. Requests that run at once have the same settings. */
  const invoke = async (
    name: string,
    fields: Parameters<typeof gatewayEvent>[0],
    settings: Readonly<Record<string, string>> = { MACHINES: 'on' },
  ): Promise<void> => {
    const url = name === 'counted' ? proxy.url : engine.endpoint;
    const own = { AUDIT_TABLE: audit, AWS_ENDPOINT_URL_DYNAMODB: url, ...settings };
    Object.assign(process.env, own);
    const { handler }: { handler: Handler } = load(name);
    const { statusCode = 500, body } = await handler(gatewayEvent(fields), {});
    if (statusCode >= 300) throw new Error(`${name} answered ${statusCode} ${body}`);
  };
  const stop = async () => {
    await deployment.stop();
    await proxy.stop();
    await engine.stop();
    rmSync(folder, { recursive: true });
  };
  const { endpoint } = engine;
  return { endpoint, proxy, token: deployment.token, users, audit, bare, invoke, stop };
}
