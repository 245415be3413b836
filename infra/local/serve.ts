/** `npm start`: the whole service on this machine. */
import { config } from '../../lib/ground/settings.ts';
import type { LocalAdmin } from './admin.ts';
import { type LocalService, startService } from './service.ts';
import { type LocalSettings, readLocalSettings } from './settings.ts';
import { doubtAbout, doubtsAbout } from './unknown-settings.ts';

const explain = (error: NodeJS.ErrnoException & { readonly port?: number }): string =>
  error.code === 'EADDRINUSE'
    ? `Port ${error.port} is in use by another program: set PORT to a free one.`
    : error.message;

/** Quotes text as one word of a shell command. */
const quote = (text: string): string =>
  /^[\w./@=:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

const passwordOf = ({ email, password }: LocalAdmin, settings: LocalSettings): string => {
  if (settings.admin) return 'the one in ADMIN_PASSWORD';
  const another = `Start once with ADMIN_EMAIL=${quote(email)} and ADMIN_PASSWORD to set another one.`;
  return password ?? `not shown again. ${another}`;
};

/** A command that logs the admin in, with a password that this run has made, or a word in its place. */
const loginOf = ({ email, password = 'PASSWORD' }: LocalAdmin, url: string): string =>
  `curl -sw '\\n' ${url}/api/login -H 'content-type: application/json' -d ${quote(JSON.stringify({ email, password }))}`;

const announce = (settings: LocalSettings, service: LocalService): void => {
  const { url, admin, engine, mail } = service;
  const mailed = mail?.elsewhere ? `goes to ${mail.elsewhere}` : `is a file in ${mail?.folder}`;
  const lines = [
    ...(config.console === 'on' ? [`Console: ${url}/console`] : []),
    `Listening at ${url} (DynamoDB: ${engine.name})`,
    `Admin: ${admin.email}  password: ${passwordOf(admin, settings)}`,
    ...(config.docs === 'on' ? [`Docs:  ${url}/docs`] : []),
    `Try:   ${loginOf(admin, url)}`,
    ...(mail ? [`Mail:  each one ${mailed}`] : []),
  ];
  console.log(lines.join('\n'));
};

/** Warns of an engine that others than this machine may reach. */
const warnAbout = ({ name, endpoint }: LocalService['engine']): void => {
  if (name !== 'dynamodb-local') return;
  const { port } = new URL(endpoint);
  console.error(
    `DynamoDB Local listens on every network interface: whoever reaches port ${port} of this machine can read and change all data (infra/README.md, Engines).`,
  );
};

/** Ends the process cleanly on a signal, or when the engine ends by itself or its data are gone. */
const endInTime = ({ engine, stop, folderDeleted }: LocalService, folder = ''): void => {
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    await stop();
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const fail = (message: string) => {
    if (!ending) console.error(message);
    process.exitCode = 1;
    return end();
  };
  engine.died?.then((how) =>
    fail(`The DynamoDB engine ${engine.name} has ended by itself (${how}): the service ends too.`),
  );
  folderDeleted?.then(() =>
    fail(`The data folder ${folder} was deleted while the service was running: the service ends.`),
  );
};

const doubt = doubtAbout(process.argv.slice(2));
if (doubt) {
  console.error(doubt);
  process.exit(1);
}
for (const doubt of doubtsAbout(process.env)) console.error(doubt);
try {
  const settings = readLocalSettings(process.env);
  const service = await startService(settings);
  endInTime(service, settings.folder);
  warnAbout(service.engine);
  announce(settings, service);
} catch (error) {
  console.error(explain(error as NodeJS.ErrnoException));
  process.exit(1);
}
