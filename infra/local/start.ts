/** `npm start`: the whole service on this machine. */
import type { LocalService } from './service.ts';
import { startService } from './service.ts';
import { readSettings } from './settings.ts';

const explain = (error: NodeJS.ErrnoException): string =>
  error.code === 'EADDRINUSE'
    ? 'The port is in use by another program: set PORT to a free one.'
    : error.message;

const announce = ({ url, admin, engine }: LocalService): void => {
  const { email, password } = admin;
  const login = JSON.stringify({ email, password });
  const attempt = `${url}/api/login -H 'content-type: application/json' -d '${login}'`;
  console.log(`Listening at ${url} (DynamoDB: ${engine.name})
Admin: ${email}  password: ${password ?? 'the one in ADMIN_PASSWORD, or printed when it was made'}
Try:   curl -s ${password === undefined ? `${url}/api/v1/users` : attempt}`);
};

const stopOnSignal = (service: LocalService): void => {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      await service.stop();
      process.exit(0);
    });
  }
};

try {
  const service = await startService(readSettings(process.env));
  stopOnSignal(service);
  announce(service);
} catch (error) {
  console.error(explain(error as NodeJS.ErrnoException));
  process.exit(1);
}
