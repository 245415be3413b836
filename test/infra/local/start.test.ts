import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLocalSettings } from '../../../infra/local-settings.ts';
import { logIn } from '../../support/client.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { mailSettings } from '../../support/mailbox.ts';
import { cleanEnvironment } from '../../support/operator.ts';
import { startTestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const start = async (environment: Readonly<Record<string, string>> = {}) => {
  const service = await startTestService(environment);
  onTestFinished(service.stop);
  return service;
};

/** Settings of services that run one after the other, on the same data, with no admin of their own. */
const settingsOfBoth = () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), "it's-"));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true }));
  const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
  return { DATA_DIR, ...tables, ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };
};

/** What a service says after a word at the beginning of a line. */
const said = ({ output }: { output(): string }, word: string) =>
  new RegExp(`^${word}: +(.+)$`, 'm').exec(output())?.[1] ?? '';

const paste = (line: string) =>
  execFileSync('sh', ['-c', line], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: cleanEnvironment(),
  });

describe('The output of npm start', () => {
  it('shows the address of the documentation, and a command that logs in as the new admin', async () => {
    const service = await start({ ADMIN_EMAIL: '', ADMIN_PASSWORD: '' });

    const page = await fetch(said(service, 'Docs'));

    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(paste(said(service, 'Try'))).toMatch(/^\{"message":"Login successful",.+\}\n$/);
  });

  it('shows a command that registers a user if the password of the admin is unknown or not to be shown', async () => {
    const [email, password] = ["o'neil&co@example.org", 'a secret that is long'];
    const service = await start({
      ADMIN_EMAIL: email,
      ADMIN_PASSWORD: password,
      PASSWORD_MIN_LENGTH: '20',
    });

    const printed = paste(said(service, 'Try'));

    expect(said(service, 'Admin')).toBe(`${email}  password: the one in ADMIN_PASSWORD`);
    expect(printed).toMatch(/^\{"message":"User registered successfully",.+\}\n$/);
    expect(service.output()).not.toContain('secret');
  });

  it('names the console first, and begins each line with its topic, in one column', async () => {
    const service = await start({ ...mailSettings, DATA_DIR: folderForThisTest() });

    const lines = service.output().trimEnd().split('\n');
    expect(
      lines.map((line) => /^(\w+): +/.exec(line)).map((begin) => [begin?.[1], begin?.[0].length]),
    ).toEqual(
      ['Console', 'Service', 'Docs', 'Admin', 'Try', 'Mail', 'Seal'].map((name) => [name, 10]),
    );
    expect(said(service, 'Seal')).toMatch(
      /^every \d+ s the new entries of the audit trail are signed/,
    );
    expect((await fetch(said(service, 'Console'))).status).toBe(200);
  });

  it('names neither page if docs and console are off', async () => {
    const service = await start({ DOCS: 'off', CONSOLE: 'off' });

    expect(service.output()).not.toMatch(/^(Docs|Console):/m);
  });

  it('explains how to set another password if an earlier start has printed the password', async () => {
    const settings = settingsOfBoth();
    await (await start(settings)).stop();
    const second = await start(settings);
    await second.stop();

    const another = { ADMIN_EMAIL: 'admin@localhost', ADMIN_PASSWORD: 'another one' };
    const third = await start({ ...settings, ...another });

    expect(said(second, 'Admin')).toBe(
      'admin@localhost  password: not shown again. Start once with ADMIN_EMAIL=admin@localhost and ADMIN_PASSWORD to set another one.',
    );
    await logIn(third.api, { email: 'admin@localhost', password: 'another one' });
  });
});

describe('A line for each request', () => {
  it('has its method, path, status and milliseconds, but neither query nor body', async () => {
    const service = await start({ LOG_REQUESTS: 'on' });

    await service.api('GET', '/api/v1/users?q=a-secret');
    await service.api('POST', '/api/login', { json: { email: 'a@b.c', password: 'a-secret' } });
    await service.api('GET', `/caf%C3%A9/${'x'.repeat(300)}`);

    await until(() => /^GET \/caf/m.test(service.output()));
    expect(service.output().match(/^(GET|POST) .+$/gm)).toEqual([
      expect.stringMatching(/^GET \/api\/v1\/users 200 \d+ ms$/),
      expect.stringMatching(/^POST \/api\/login 404 \d+ ms$/),
      expect.stringMatching(/^GET \/caf%C3%A9\/x+… 404 \d+ ms$/),
    ]);
    expect(service.output()).not.toContain('a-secret');
  });

  it.each([
    ['is printed on a terminal', {}, { isTerminal: true }, true],
    ['is not printed into a file', {}, { isTerminal: false }, false],
    [
      'is not printed on a terminal if LOG_REQUESTS is off',
      { LOG_REQUESTS: 'off' },
      { isTerminal: true },
      false,
    ],
    [
      'is printed into a file if LOG_REQUESTS is on',
      { LOG_REQUESTS: 'on' },
      { isTerminal: false },
      true,
    ],
  ])('%s', (_, environment, output, expected) => {
    expect(readLocalSettings(environment, output).logsRequests).toBe(expected);
  });
});

describe('A route of an option that is off', () => {
  it('is 404 like any unknown route, and the output says once which setting decides that', async () => {
    const service = await start({ DOCS: 'off', MAIL_FROM: 'accounts@example.com' });
    const requests = [
      ['POST', '/api/users/17/invitations?a-secret'],
      ['DELETE', '/api/users/17/second-factor'],
      ['GET', '/api/users/17/sessions'],
      ['GET', '/api/users/18/sessions'],
      ['GET', '/account/verify'],
      ['GET', '/docs'],
      ['GET', '/nothing'],
      ['GET', '/api/login'],
    ] as const;

    const answers = [];
    for (const [method, path] of requests) answers.push(await service.api(method, path));

    const missing = { status: 404, body: { message: 'Not Found' } };
    expect(answers.slice(1)).toEqual(answers.slice(1).map(() => expect.objectContaining(missing)));
    expect(answers[0]?.status).toBe(401);
    expect(service.output().match(/^.+ is off: .+$/gm)).toEqual([
      'DELETE /api/users/{id}/second-factor is off: see SECOND_FACTOR and PASSKEYS in infra/settings.md.',
      'GET /api/users/{id}/sessions is off: see SESSION_DAYS in infra/settings.md.',
      'GET /account/verify is off: see MAIL_FROM and EMAIL_VERIFICATION in infra/settings.md.',
      'GET /docs is off: see DOCS in infra/settings.md.',
    ]);
  });
});

describe('The service on one machine', () => {
  it('works in a shell that has an AWS profile', async () => {
    const service = await startTestService({ AWS_PROFILE: 'of-aws', HOME: '/nonexistent' });

    const token = await logIn(service.api, service.admin);
    await service.stop();

    expect(token).toMatch(/^ey/);
  });
});

describe('The settings of one machine', () => {
  it.each([
    [{ PORT: 'http' }, 'PORT must be a whole number from 0 to 65535'],
    [
      { AWS_ENDPOINT_URL_DYNAMODB: 'localhost:8000' },
      'AWS_ENDPOINT_URL_DYNAMODB must be an http or https URL, such as http://localhost:8000',
    ],
    [{ AWS_ENDPOINT_URL_SESV2: 'x' }, 'AWS_ENDPOINT_URL_SESV2 must be an http or https URL'],
    [{ CORS_ORIGINS: 'localhost:3000' }, 'CORS_ORIGINS must be * or a comma-separated list'],
    [
      { EMAIL_VERIFICATION: 'true', ADMIN_EMAIL: 'a@example.com' },
      `Environment variable EMAIL_VERIFICATION must be one of off, on, required
Environment variable ADMIN_EMAIL requires ADMIN_PASSWORD
Environment variable EMAIL_VERIFICATION requires MAIL_FROM`,
    ],
    [{ ADMIN_PASSWORD: 'a secret' }, 'Environment variable ADMIN_PASSWORD requires ADMIN_EMAIL'],
    [{ AUDIT_RETENTION_DAYS: '30' }, 'AUDIT_RETENTION_DAYS must be 0 on one machine'],
  ])('are refused when they are %o', (environment, message) => {
    expect(() => readLocalSettings(environment)).toThrow(message);
  });

  it.each(['memory', 'Memory '])('keep no data if DATA_DIR is the word %j', (DATA_DIR) => {
    expect(readLocalSettings({ DATA_DIR }).folder).toBeUndefined();
  });
});
