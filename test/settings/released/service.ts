/** A service that keeps its data: it is stopped, and started again on the same data, at a later time. */
import { randomUUID } from 'node:crypto';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, inject, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { type ApiClient, logIn } from '../../support/client.ts';
import { everySetting } from '../../support/every-setting.ts';
import { audience, identityClient, startIssuer } from '../../support/issuer.ts';
import { startMailbox } from '../../support/mailbox.ts';
import { operate } from '../../support/operator.ts';
import { startTestService } from '../../support/service.ts';

/** The time at which users begin to store data. */
export const begin = Date.UTC(2026, 11, 1, 12);

/** Stops the clock of this process at a time, until the file ends. */
export const setClock = (time: number): void => void vi.setSystemTime(time);

/** Each request is sent a second after the previous one, so that entries have an order. */
const ticking =
  (api: ApiClient): ApiClient =>
  (...request) => {
    setClock(Date.now() + 1000);
    return api(...request);
  };

const issuerName = 'https://issuer.example.com';

/** The settings that turn every option on. */
const allOn = {
  ...everySetting,
  // The default is the service's address, whose port differs each time.
  TOKEN_ISSUER: 'https://accounts.example.com',
  IDENTITY_PROVIDERS: JSON.stringify([{ issuer: issuerName, audiences: [audience] }]),
  AUDIT_DETAIL: 'full',
  LOGIN_FAILURES_PER_ADDRESS: '1000',
  REGISTRATIONS_PER_ADDRESS: '1000',
} as const;

/**
 * The settings that an earlier version knows, if the data are for that version (test/infra/release/going-back.test.ts).
 */
const known = process.env.KNOWN_SETTINGS?.split(',');
const isKnown = ([name]: readonly [string, string]) => known?.includes(name) ?? true;

/** A place for data: two tables, and a data folder. */
export interface Place {
  readonly folder: string;
  readonly tables: Readonly<Record<'USERS_TABLE' | 'AUDIT_TABLE', string>>;
}

/** Makes tables. It must be called before lib is first used, because lib then reads the names of the tables. */
export const makePlace = async (folder: string): Promise<Place> => {
  const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
  const engine = { AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
  Object.assign(process.env, environmentDefaults, engine, tables);
  await createTables(inject('engine'), { users: tables.USERS_TABLE, audit: tables.AUDIT_TABLE });
  return { folder, tables };
};

const mailbox = await startMailbox();
afterAll(mailbox.stop);
const issuer = await startIssuer(issuerName);

/** Requests to the host in the issuer's name are sent to the issuer's server. */
const { handle } = NodeHttpHandler.prototype;
vi.spyOn(NodeHttpHandler.prototype, 'handle').mockImplementation(function (
  this: NodeHttpHandler,
  request,
  ...options
) {
  const { protocol, hostname, port } = new URL(issuer.server);
  const isIssuer = request.hostname === new URL(issuerName).hostname;
  if (isIssuer) Object.assign(request, { protocol, hostname, port: Number(port) });
  return handle.call(this, request, ...options);
});

/**
 * Starts a service on a place, with every option on, or with the default settings.
 * @param more settings besides
 */
export const startOn = async (
  { folder, tables }: Place,
  options: 'on' | 'off' = 'on',
  more: Readonly<Record<string, string>> = {},
) => {
  const service = await startTestService({
    DATA_DIR: folder,
    JWT_SECRET: '',
    ADMIN_EMAIL: 'root@example.org',
    ADMIN_PASSWORD: 'the password of the admin',
    ...tables,
    ...(options === 'on'
      ? { ...Object.fromEntries(Object.entries(allOn).filter(isKnown)), ...mailbox.environment }
      : {}),
    ...more,
  });
  const api = ticking(service.api);
  return {
    ...service,
    api,
    adminToken: await logIn(api, service.admin),
    mailbox,
    ...identityClient(api, issuer),
    operate: (args: readonly string[], input = '') =>
      operate([...args, `--local=${folder}`], { input }),
  };
};

export type Kept = Awaited<ReturnType<typeof startOn>>;
