import { AsyncLocalStorage } from 'node:async_hooks';
import { config } from '../../lib/ground/settings.ts';
import type { Handler } from '../../lib/http/request.ts';
import { tokenKeys as readTokenKeys } from '../../lib/keys/signing-key.ts';
import { signingKeys } from '../../lib/keys/signing-secret.ts';
import { environmentDefaults, type LocalSettings } from '../local-settings.ts';
import { staticFilesFolder } from '../static-files.ts';
import { type FunctionDefinition, functionsInForce, mailFunction } from '../uses.ts';
import { ensureAdmin, type LocalAdmin } from './admin.ts';
import { createTables } from './create-tables.ts';
import { forgetRunning, lockFolder, readRunning, watchFolder } from './data-folder.ts';
import { type Engine, startEngine } from './engine.ts';
import { createGateway, type Integration } from './gateway.ts';
import { announce } from './kept-start.ts';
import { type LocalMail, type MailFunction, startMail } from './mail.ts';
import { explainer } from './off-routes.ts';
import { archiveFolder, startSealing } from './sealing.ts';
import { secondFactorKey, signingSecret, tokenKeys } from './secrets.ts';

export interface LocalService {
  readonly url: string;
  readonly admin: LocalAdmin;
  readonly engine: Engine;
  /** The folder or the URL to which mails go; absent if mails are off. */
  readonly mail?: Pick<LocalMail, 'folder' | 'elsewhere'>;
  /** A promise that resolves when the data folder is deleted; absent if there is no data folder. */
  readonly folderDeleted?: Promise<void>;
  stop(): Promise<void>;
}

/** The function that is running now. Tests read it to learn which function's permissions a request uses. */
export const running = new AsyncLocalStorage<FunctionDefinition>();

/**
 * Starts the whole service in this process: first locks the folder and listens on the port, then starts the engine and
 * creates the tables and the admin.
 * @throws {Error} if the folder or the port is in use, if no engine is found, or if a setting is not allowed
 */
export async function startService(settings: LocalSettings): Promise<LocalService> {
  const { folder, corsOrigins: origins, logsRequests, publicUrl } = settings;
  globalThis.patience ??= 3;
  const unlock = folder ? takeFolder(folder) : () => undefined;
  const opening = Promise.withResolvers<readonly Integration[]>();
  const gateway = createGateway(opening.promise, {
    origins,
    log: logsRequests ? console.log : undefined,
    publicUrl,
    explain: explainer(config),
  });
  let engine: Engine | undefined;
  let mail: LocalMail | undefined;
  let stopSealing = async () => {};
  const watch = folder ? watchFolder(folder) : undefined;
  const stop = async () => {
    watch?.stop();
    if (folder) forgetRunning(folder);
    await Promise.all([gateway.drain(), stopSealing()]);
    await mail?.stop();
    await engine?.stop();
    unlock();
  };
  try {
    const url = `http://localhost:${await gateway.listen(settings.port)}`;
    engine = await startEngine({ folder });
    const AUDIT_ARCHIVE_FOLDER = folder ? archiveFolder(folder) : '';
    setEnvironment(engine.endpoint, {
      ...signingSecret(settings),
      ...secondFactorKey(settings),
      ...tokenKeys(settings),
      API_URL: publicUrl ?? url,
      AUDIT_ARCHIVE_FOLDER,
    });
    mail = await openMail(settings);
    const { integrations, admin } = await prepare(settings, engine);
    if (folder) announce(folder, settings, { engine, url });
    opening.resolve(integrations);
    if (folder) stopSealing = startSealing(folder, settings.auditSealInterval);
    const folderDeleted = watch ? { folderDeleted: watch.deleted } : {};
    return { url, admin, engine, stop, ...folderDeleted, ...(mail ? { mail } : {}) };
  } catch (error) {
    opening.reject(error);
    await stop();
    throw error;
  }
}

/** Locks the data folder. @throws {Error} when another service or a command uses it */
function takeFolder(folder: string): () => void {
  const unlock = lockFolder(folder);
  if (unlock) return unlock;
  const url = readRunning(folder)?.url;
  throw new Error(
    url
      ? `A service is already running on the data in ${folder} (${url}): stop it, or set DATA_DIR to another folder.`
      : `A command or another service is using the data in ${folder}: wait until it ends, or set DATA_DIR to another folder.`,
  );
}

function setEnvironment(endpoint: string, given: Readonly<Record<string, string>>): void {
  // It is set again if mails are on.
  delete process.env.MAIL_FUNCTION_URL;
  // A profile in the environment would take precedence over the credentials. The engine accepts any credentials.
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, { ...environmentDefaults, ...process.env });
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, ...given });
  process.env.STATIC_FILES = staticFilesFolder();
}

async function openMail({ folder }: LocalSettings): Promise<LocalMail | undefined> {
  const definition = mailFunction(config);
  return definition && startMail(folder, await load<MailFunction>(definition));
}

async function load<H extends (...call: never[]) => unknown>(definition: FunctionDefinition) {
  const url = new URL(`../../${definition.entry}`, import.meta.url).href;
  const { handler }: { handler: H } = await import(url);
  return ((...call) => running.run(definition, handler, ...call)) as H;
}

/** Creates the tables, the signing secret and the admin, without which handlers do not work. */
async function prepare(settings: LocalSettings, engine: Engine) {
  const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = process.env;
  const isOwn = engine.process !== undefined;
  await createTables(engine.endpoint, { users, audit }, { isOwn });
  await signingKeys();
  if (config.tokenSigning === 'RS256') await readTokenKeys();
  const integrations = await loadIntegrations();
  return { integrations, admin: await ensureAdmin(settings.admin) };
}

async function loadIntegrations(): Promise<Integration[]> {
  const loaded = await Promise.all(
    functionsInForce(config).map(async (definition) => {
      const handler = await load<Handler>(definition);
      return definition.routes.map((route) => ({ route, handler }));
    }),
  );
  return loaded.flat();
}
