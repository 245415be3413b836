/** `npm start`: the whole service on this machine. */
import { config } from '../../lib/ground/settings.ts';
import { type LocalSettings, readLocalSettings } from '../local-settings.ts';
import type { LocalAdmin } from './admin.ts';
import { damageIn } from './engine.ts';
import { type LocalService, startService } from './service.ts';
import { doubtAbout, doubtsAbout } from './unknown-settings.ts';

const doubt = doubtAbout(process.argv.slice(2));
if (doubt) {
  console.error(doubt);
  process.exit(1);
}
for (const doubt of doubtsAbout(process.env)) console.error(doubt);

type Fault = NodeJS.ErrnoException & { readonly port?: number; readonly $metadata?: object };

/**
 * The engine that the environment names. If it names no engine, the service later sets the variable to its own engine.
 */
const namedEngine = process.env.AWS_ENDPOINT_URL_DYNAMODB;

let folder: string | undefined;
try {
  const settings = readLocalSettings(process.env);
  folder = settings.folder;
  const service = await startService(settings);
  endInTime(service, folder);
  warnAbout(service.engine);
  announce(settings, service);
} catch (error) {
  console.error(explain(error as Fault, folder));
  process.exit(1);
}

/** Ends the process cleanly when a signal arrives, the engine ends by itself, or its data are deleted. */
function endInTime({ engine, stop, folderDeleted }: LocalService, folder = ''): void {
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
}

function warnAbout({ name, endpoint }: LocalService['engine']): void {
  if (name !== 'dynamodb-local') return;
  const { port } = new URL(endpoint);
  console.error(
    `DynamoDB Local listens on every network interface: whoever reaches port ${port} of this machine can read and change all data (infra/README.md, Engines).`,
  );
}

function announce(settings: LocalSettings, service: LocalService): void {
  const { url, admin, engine, mail } = service;
  const mailed = mail?.elsewhere ? `goes to ${mail.elsewhere}` : `is a file in ${mail?.folder}`;
  const { folder, auditSealInterval: interval, publicUrl = url } = settings;
  const sealed = `every ${interval} s the new entries of the audit trail are signed, and a later change of one is reported here`;
  const lines = {
    ...(config.console === 'on' && { Console: `${publicUrl}/console` }),
    Service: `${url}${publicUrl === url ? '' : ` behind ${publicUrl}`} (DynamoDB: ${engine.name})`,
    ...(config.docs === 'on' && { Docs: `${publicUrl}/docs` }),
    Admin: `${admin.email}  password: ${passwordOf(admin, settings)}`,
    Try: commandOf(admin, url),
    ...(mail && { Mail: `each one ${mailed}` }),
    ...(folder && { Seal: sealed }),
  };
  const columns = Object.entries(lines).map(([name, line]) => `${`${name}:`.padEnd(10)}${line}`);
  console.log(columns.join('\n'));
}

function passwordOf({ email, password }: LocalAdmin, settings: LocalSettings): string {
  if (settings.admin) return 'the one in ADMIN_PASSWORD';
  const another = `Start once with ADMIN_EMAIL=${quote(email)} and ADMIN_PASSWORD to set another one.`;
  return password ?? `not shown again. ${another}`;
}

/** Quotes text as one word of a shell command. */
function quote(text: string): string {
  return /^[\w./@=:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A command to paste. It logs in the admin whom this run has made or, if the password is not known, registers a user.
 */
function commandOf({ email, password }: LocalAdmin, url: string): string {
  const longEnough = 'correct horse'.padEnd(config.passwordMinLength, '.');
  const [path, body] = password
    ? ['/api/login', { email, password }]
    : ['/api/auth/register', { name: 'Ada', email: 'ada@example.com', password: longEnough }];
  return `curl -sw '\\n' ${url}${path} -H 'content-type: application/json' -d ${quote(JSON.stringify(body))}`;
}

function explain(error: Fault, folder: string | undefined): string {
  if (error.code === 'EADDRINUSE') {
    return `Port ${error.port} is in use by another program: set PORT to a free one.`;
  }
  // Only errors of the SDK have this field.
  if (namedEngine && error.$metadata) {
    const [reason] = error.message.split('\n');
    return `AWS_ENDPOINT_URL_DYNAMODB is ${namedEngine}, where no DynamoDB engine responds: ${reason}`;
  }
  return (!namedEngine && folder && damageIn(folder)) || error.message;
}
