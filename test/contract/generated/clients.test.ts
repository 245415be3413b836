/** Clients that generators make of the document: they compile, and two of them log in. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeUser } from '../../support/client.ts';
import { everySetting } from '../../support/every-setting.ts';
import { identitySettings, startIssuer } from '../../support/issuer.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { enrol } from '../../support/second-factor.ts';
import { newAccount, sendRegistration } from '../../support/verification.ts';

/** From Maven Central. */
const generator = {
  version: '7.25.0',
  sha256: '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae',
};
const mavenCopy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

const issuer = await startIssuer();

/** Its settings give it all endpoints and all schemas. */
const service = await mailingServiceForThisFile({
  ...everySetting,
  IDENTITY_PROVIDERS: identitySettings(issuer).IDENTITY_PROVIDERS,
  EMAIL_VERIFICATION: 'required',
  REGISTRATIONS_PER_ADDRESS: '1000',
});
const { api, adminToken } = service;

/** Milliseconds, for what hangs: the first run downloads compilers' packages for minutes. */
const timeout = 1_800_000;

/** Ignored by git. */
const folder = resolve('.contract/generated');
const document = join(folder, 'openapi.json');
const [java, go, kotlin] = [join(folder, 'java'), join(folder, 'go'), join(folder, 'kotlin')];

const execute = promisify(execFile);

/** Throws what it wrote when it fails. @returns its output */
const run = async (program: string, args: readonly string[], cwd = folder, input = '') => {
  const running = execute(program, args, { cwd });
  running.child.stdin?.end(input);
  return (await running).stdout;
};

const generatorJar = `openapi-generator-cli-${generator.version}.jar`;

const fetchGenerator = async () => {
  const artifact = `org.openapitools:openapi-generator-cli:${generator.version}`;
  await run('mvn', [
    '-q',
    '-B',
    mavenCopy,
    `-Dartifact=${artifact}`,
    `-DoutputDirectory=${folder}`,
  ]);
  const jar = readFileSync(join(folder, generatorJar));
  expect(createHash('sha256').update(jar).digest('hex')).toBe(generator.sha256);
};

beforeAll(async () => {
  for (const path of [java, go, kotlin]) rmSync(path, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(document, (await api('GET', '/openapi.json')).text);
  await fetchGenerator();
}, timeout);

describe('The client that openapi-generator makes for Java', () => {
  it(
    'compiles',
    async () => {
      await run('java', [
        '-jar',
        generatorJar,
        'generate',
        '-g',
        'java',
        '-i',
        document,
        '-o',
        java,
      ]);

      expect(await run('mvn', ['-q', '-B', 'compile'], java)).not.toContain('ERROR');
    },
    timeout,
  );
});

describe('The client that openapi-generator makes for Kotlin, with the code of functions/CLIENTS.md,', () => {
  beforeAll(async () => {
    cpSync('test/contract/generated/kotlin', kotlin, { recursive: true });
    const [, code = ''] =
      /^```kotlin\n(.*?)^```$/ms.exec(readFileSync('functions/CLIENTS.md', 'utf8')) ?? [];
    writeFileSync(join(kotlin, 'Accounts.kt'), code);
    const options = ['--additional-properties', 'serializationLibrary=kotlinx_serialization'];
    const client = join(folder, 'kotlin-client');
    rmSync(client, { recursive: true, force: true });
    const generate = ['generate', '-g', 'kotlin', '-i', document, '-o', client, ...options];
    await run('java', ['-jar', generatorJar, ...generate]);
    cpSync(join(client, 'src/main/kotlin'), join(kotlin, 'client'), { recursive: true });
    await run('mvn', ['-q', '-B', 'compile'], kotlin);
  }, timeout);

  /** @returns what came of each line */
  const follow = async (...lines: readonly string[]) => {
    const args = ['-cp', 'target/classes:target/dependency/*', 'MainKt', service.url];
    const output = await run('java', args, kotlin, lines.join('\n'));
    return output.trimEnd().split('\n');
  };

  it('logs in past an address that is not verified and a code, and stays logged in', async () => {
    const stranger = newAccount({ password: 'p' });
    await sendRegistration(api, stranger);
    const user = await makeUser(api, adminToken);
    const { body } = await api('POST', '/api/login', { json: user });
    const { recoveryCodes } = await enrol(api, { ...user, token: body.token });
    const login = `login ${user.email} ${user.password}`;

    const outcomes = await follow(
      `identity ${issuer.url}/token?sub=1&email=ada@example.org`,
      'profile',
      `identity ${issuer.url}/token?sub=1&aud=x`,
      `login ${stranger.email} p`,
      `login ${user.email} wrong`,
      login,
      `${login} wrong`,
      `${login} ${recoveryCodes[0]}`,
      'profile',
      'spoil',
      'profiles',
      'rename New',
      'delete',
      'logout',
      'profile',
      'session',
    );

    expect(outcomes).toEqual([
      '',
      'ada@example.org',
      'IDENTITY_TOKEN_INVALID',
      'EMAIL_NOT_VERIFIED',
      'INVALID_CREDENTIALS',
      'LOGIN_CODE_REQUIRED',
      'LOGIN_CODE_WRONG',
      '',
      user.email,
      'done',
      user.email,
      'New',
      'FORBIDDEN',
      'done',
      'TOKEN_INVALID',
      'null',
    ]);
  });
});

describe('The client that oapi-codegen makes for Go', () => {
  beforeAll(async () => {
    cpSync('test/contract/generated/go', go, { recursive: true });
    mkdirSync(join(go, 'accounts'));
    const to = ['-package', 'accounts', '-o', 'accounts/client.go'];
    await run('go', ['tool', 'oapi-codegen', '-generate', 'types,client', ...to, document], go);
    await run('go', ['build', '-o', 'client', '.'], go);
  }, timeout);

  const logIn = (email: string, password: string) =>
    run(join(go, 'client'), [service.url, email, password]);

  it('compiles, logs in and shows the profile', async () => {
    const { email, password } = await makeUser(api, adminToken);

    expect(await logIn(email, password)).toBe(`${email}\n`);
  });

  it('tells errors apart by their codes', async () => {
    const { email } = await makeUser(api, adminToken);

    expect(await logIn(email, 'wrong')).toBe('INVALID_CREDENTIALS\n');
    expect(await logIn('nobody@example.org', 'wrong')).toBe('USER_NOT_REGISTERED\n');
  });
});
