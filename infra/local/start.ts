/** `npm start`: the whole service on this machine. */
import type { LocalService } from './service.ts';
import { startService } from './service.ts';
import { readLocalSettings } from './settings.ts';

const explain = (error: NodeJS.ErrnoException): string =>
  error.code === 'EADDRINUSE'
    ? 'The port is in use by another program: set PORT to a free one.'
    : error.message;

const announce = ({ url, admin, engine, mail }: LocalService): void => {
  const { email, password } = admin;
  const login = JSON.stringify({ email, password });
  const attempt = `${url}/api/login -H 'content-type: application/json' -d '${login}'`;
  const kept = process.env.ADMIN_PASSWORD
    ? 'the one in ADMIN_PASSWORD'
    : 'printed when it was made';
  console.log(`Listening at ${url} (DynamoDB: ${engine.name})
Admin: ${email}  password: ${password ?? kept}
Try:   curl -s ${password === undefined ? `${url}/api/v1/users` : attempt}`);
  if (!mail) return;
  const { folder, elsewhere } = mail;
  console.log(`Mail:  each one ${elsewhere ? `goes to ${elsewhere}` : `is a file in ${folder}`}`);
};

/** Ends the process on a signal, or when the engine has ended by itself; in either case cleanly. */
const endInTime = ({ engine, stop }: LocalService): void => {
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    await stop();
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  engine.died?.then((how) => {
    console.error(
      `The DynamoDB engine ${engine.name} has ended by itself (${how}): the service ends too.`,
    );
    process.exitCode = 1;
    return end();
  });
};

try {
  const service = await startService(readLocalSettings(process.env));
  endInTime(service);
  announce(service);
} catch (error) {
  console.error(explain(error as NodeJS.ErrnoException));
  process.exit(1);
}
