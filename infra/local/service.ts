import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { config } from '../../lib/config.ts';
import { functions } from '../routes.ts';
import type { LocalAdmin } from './admin.ts';
import { createTables } from './create-tables.ts';
import { type Engine, startEngine } from './engine.ts';
import { createGateway, type Integration, type LambdaHandler } from './gateway.ts';
import { announceRunning } from './running.ts';
import { environmentDefaults, type LocalSettings } from './settings.ts';

export interface LocalService {
  readonly url: string;
  readonly admin: LocalAdmin;
  readonly engine: Engine;
  stop(): Promise<void>;
}

const setEnvironment = (endpoint: string, secret: Readonly<Record<string, string>>): void => {
  // A profile of the shell would outrank the credentials; the engine takes any.
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, { ...environmentDefaults, ...process.env });
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, ...secret });
};

const loadIntegrations = async (): Promise<Integration[]> => {
  const loaded = await Promise.all(
    functions.map(async ({ entry, routes }) => {
      const module: { handler: LambdaHandler } = await import(
        new URL(`../../${entry}`, import.meta.url).href
      );
      return routes.map((route) => ({ route, handler: module.handler }));
    }),
  );
  return loaded.flat();
};

const listen = async (server: Server, port: number): Promise<number> => {
  server.listen(port);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Tells the operator's commands where to find the service; nobody finds one without a folder. */
const announce = ({ folder, signingSecret }: LocalSettings, engine: Engine, url: string) => {
  if (!folder) return () => undefined;
  const { USERS_TABLE: usersTable = '', AUDIT_TABLE: auditTable = '' } = process.env;
  const { JWT_SECRET_FILE: secretFile } = signingSecret;
  return announceRunning(folder, {
    pid: process.pid,
    url,
    endpoint: engine.endpoint,
    usersTable,
    auditTable,
    ...(secretFile ? { secretFile } : {}),
    settings: {
      PASSWORD_MIN_LENGTH: String(config.passwordMinLength),
      BCRYPT_COST: String(config.bcryptCost),
    },
  });
};

/** Milliseconds for requests under way to be answered; none of them takes as long. */
const closeTimeout = 6000;

const close = async (server: Server): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const lastResort = setTimeout(() => server.closeAllConnections(), closeTimeout);
  await closed;
  clearTimeout(lastResort);
};

/**
 * Starts the whole service in this process: engine, tables, admin, HTTP.
 * @param engine one that runs already; it is then not stopped with the service
 * @throws {Error} when there is no engine, a setting is out of range or the port is taken
 */
export const startService = async (
  settings: LocalSettings,
  { engine: given }: { engine?: Engine } = {},
): Promise<LocalService> => {
  const engine = given ?? (await startEngine({ folder: settings.folder }));
  try {
    setEnvironment(engine.endpoint, settings.signingSecret);
    // Whichever is out of range is refused now, not by the first request that needs it.
    Object.values(config);
    const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = process.env;
    await createTables(engine.endpoint, { users, audit });
    // Only now: what they import reads the environment.
    const { ensureAdmin } = await import('./admin.ts');
    const { signingKeys } = await import('../../lib/tokens/signing-secret.ts');
    await signingKeys();
    const integrations = await loadIntegrations();
    const admin = await ensureAdmin(settings.admin);
    const server = createGateway(integrations, { origins: settings.corsOrigins });
    const url = `http://localhost:${await listen(server, settings.port)}`;
    const withdraw = announce(settings, engine, url);
    const stop = async () => {
      await close(server);
      if (!given) await engine.stop();
      withdraw();
    };
    return { url, admin, engine, stop };
  } catch (error) {
    if (!given) await engine.stop();
    throw error;
  }
};
