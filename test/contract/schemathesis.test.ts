/** Requests that schemathesis makes from the OpenAPI document, and what it expects of responses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { staticFilesFolder } from '../../infra/static-files.ts';
import { logIn, register } from '../support/client.ts';
import { folderForThisFile } from '../support/folder.ts';
import { pythonProgram } from '../support/python.ts';
import { startTestService } from '../support/service.ts';

const { SEED = '1', EXAMPLES = '8' } = process.env;
const seed = SEED === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(SEED);

/** Milliseconds, for what hangs: it takes one minute, and with many examples some. */
const timeout = 1_800_000;

/** Logins do not wait: schemathesis tries wrong ones by the hundred. */
const settings = { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_ADDRESS: '0' };

const program = resolve(
  pythonProgram('schemathesis', {
    requirements: 'test/contract/requirements.txt',
    folder: '.contract/python',
  }),
);
const folder = folderForThisFile();

/** @param parts in test/contract */
const writeConfiguration = (name: string, parts: readonly string[]): string => {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, parts.map((part) => readFileSync(`test/contract/${part}`, 'utf8')).join(''));
  return file;
};

interface Run {
  readonly caller: string;
  readonly configuration: string;
  readonly url: string;
  readonly token: string;
  readonly accept: string;
}

/** Exit code and output. */
const schemathesis = async ({ caller, configuration, url, token, accept }: Run) => {
  const limits = ['--seed', String(seed), '--max-examples', EXAMPLES];
  const args = ['--no-color', '--config-file', configuration, 'run', `${url}/openapi.json`];
  const child = spawn(program, [...args, ...limits], {
    cwd: folder,
    env: {
      ...process.env,
      SERVICE_URL: url,
      CALLER: caller,
      TOKEN: token,
      ACCEPT: accept,
      DOCS_FILE: fileOf('docs', 'page.js'),
      CONSOLE_FILE: fileOf('console', 'main.js'),
      PYTHONPATH: resolve('test/contract'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
};

/** The name under which a file of a page is served. */
const fileOf = (page: string, source: string): string =>
  JSON.parse(readFileSync(join(staticFilesFolder(), page, 'names.json'), 'utf8'))[source];

/** Users (3 and on) who are deleted in place of the admin; see hooks.py. */
const standIns = 60;

/** A service of its own, of which schemathesis leaves little, with an admin (1) and a user (2). */
const startService = async (caller: string) => {
  // A service that keeps nothing has no sealed trail to show.
  const service = await startTestService({ ...settings, DATA_DIR: join(folder, caller) });
  const admin = await logIn(service.api, service.admin);
  const { token: user } = await register(service.api);
  for (let made = 0; made < standIns; made += 1) await register(service.api);
  return { ...service, tokens: { admin, user } };
};

describe('Requests that schemathesis makes from the document, with all its checks,', () => {
  it.concurrent.each([
    ['an admin', 'admin', 'application/json', ['schemathesis.toml']],
    [
      'a user who asks for problem details',
      'user',
      'application/problem+json',
      ['schemathesis.toml', 'user.toml'],
    ],
  ] as const)(
    'get the responses that the document describes, as %s',
    async (_, caller, accept, parts) => {
      const { url, tokens, stop } = await startService(caller);
      const configuration = writeConfiguration(caller, parts);

      const { code, output } = await schemathesis({
        caller,
        configuration,
        url,
        accept,
        token: tokens[caller],
      });
      await stop();

      console.log(`${/^.*generated.*$/m.exec(output)?.[0].trim()}, SEED=${seed}`);
      expect(code, output).toBe(0);
    },
    timeout,
  );
});
