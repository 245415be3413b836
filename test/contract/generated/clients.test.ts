/** Clients that generators make of the document: they compile, and two of them log in. */
import { execFile } from 'node:child_process';
import { createHash, createPrivateKey } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { type ApiClient, makeUser } from '../../support/client.ts';
import { everySetting } from '../../support/every-setting.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { identitySettings, startIssuer } from '../../support/issuer.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { enrol } from '../../support/second-factor.ts';
import { throttlingGatewayForThisFile } from '../../support/throttling.ts';
import { outlived, signToken, signTokenWithKey } from '../../support/tokens.ts';
import { newAccount, sendRegistration } from '../../support/verification.ts';

/** From Maven Central. */
const generator = {
  version: '7.25.0',
  sha256: '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae',
};
const mavenCopy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

const issuer = await startIssuer();

/** Its settings give it all endpoints and all schemas. */
const dataFolder = folderForThisFile();
const service = await mailingServiceForThisFile({
  ...everySetting,
  DATA_DIR: dataFolder,
  IDENTITY_PROVIDERS: identitySettings(issuer).IDENTITY_PROVIDERS,
  EMAIL_VERIFICATION: 'required',
  REGISTRATIONS_PER_ADDRESS: '1000',
  // On a slow machine compilers take longer than the shortest life of a token.
  TOKEN_MINUTES: '1440',
});
const { api, adminToken } = service;
const tokenKey = () => createPrivateKey(readFileSync(join(dataFolder, 'token-key-first')));
const gateway = await throttlingGatewayForThisFile(service);
const plain = await serviceForThisFile();

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
  // A program that ends before it has read its input says so by its status.
  running.child.stdin?.on('error', () => undefined).end(input);
  return (await running).stdout;
};

const generatorJar = `openapi-generator-cli-${generator.version}.jar`;

const fetchGenerator = async () => {
  const artifact = `org.openapitools:openapi-generator-cli:${generator.version}`;
  const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  await run('mvn', ['-q', '-B', mavenCopy, ...options]);
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
      const generate = ['generate', '-g', 'java', '-i', document, '-o', java];
      await run('java', ['-jar', generatorJar, ...generate]);

      expect(await run('mvn', ['-q', '-B', 'compile'], java)).not.toContain('ERROR');
    },
    timeout,
  );
});

describe('The client that openapi-generator makes for Kotlin, with the code of functions/client/kotlin/,', () => {
  /** Makes the program of `kotlin/`, for the document of a service. */
  const build = async (name: 'plain' | 'full', path: string, code: readonly string[]) => {
    const own = join(kotlin, name);
    mkdirSync(own, { recursive: true });
    for (const file of ['pom.xml', 'Lines.kt', `${name}/Main.kt`]) {
      cpSync(join('test/contract/generated/kotlin', file), join(own, basename(file)));
    }
    for (const file of code) cpSync(join('functions/client/kotlin', file), join(own, file));
    const options = ['--additional-properties', 'serializationLibrary=kotlinx_serialization'];
    const client = join(folder, `kotlin-client-${name}`);
    rmSync(client, { recursive: true, force: true });
    const generate = ['generate', '-g', 'kotlin', '-i', path, '-o', client, ...options];
    await run('java', ['-jar', generatorJar, ...generate]);
    cpSync(join(client, 'src/main/kotlin'), join(own, 'client'), { recursive: true });
    await run('mvn', ['-q', '-B', 'compile'], own);
  };

  beforeAll(async () => {
    const plainDocument = join(folder, 'openapi-plain.json');
    writeFileSync(plainDocument, (await plain.api('GET', '/openapi.json')).text);
    await build('plain', plainDocument, ['Accounts.kt']);
    await build('full', document, ['Accounts.kt', 'SessionAccounts.kt']);
  }, timeout);

  /** @returns what came of each line */
  const follow = async (name: 'plain' | 'full', url: string, ...lines: readonly string[]) => {
    const args = ['-cp', 'target/classes:target/dependency/*', 'MainKt', url];
    const output = await run('java', args, join(kotlin, name), lines.join('\n'));
    return output.trimEnd().split('\n');
  };

  const tokenOf = async (at: ApiClient, account: object) =>
    (await at('POST', '/api/login', { json: account })).body.token;
  const expiredPlain = (token: string) =>
    outlived(token, (claims, header) => signToken(claims, plain.jwtSecret, header));
  const expiredFull = (token: string) =>
    outlived(token, (claims, header) => signTokenWithKey(claims, tokenKey(), header));

  it('handles an unverified address and a required code at logins, and stays logged in', async () => {
    const stranger = newAccount({ password: 'p' });
    await sendRegistration(api, stranger);
    const user = await makeUser(api, adminToken);
    const token = await tokenOf(api, user);
    const { recoveryCodes } = await enrol(api, { ...user, token });
    const login = `login ${user.email} ${user.password}`;

    const outcomes = await follow(
      'full',
      service.url,
      `identity ${issuer.url}/token?sub=1&email=ada@example.org`,
      'profile',
      `identity ${issuer.url}/token?sub=1&aud=x`,
      `login ${stranger.email} p`,
      `login ${user.email} wrong`,
      login,
      `${login} wrong`,
      `${login} ${recoveryCodes[0]}`,
      'profile',
      'token spoilt',
      'profiles',
      `token ${expiredFull(token)}`,
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
      'done',
      user.email,
      'New',
      'FORBIDDEN',
      'done',
      'TOKEN_INVALID',
      'null',
    ]);
  });

  it('knows that its user must log in again where there are no sessions', async () => {
    const user = await makeUser(plain.api, plain.adminToken);
    const expired = expiredPlain(await tokenOf(plain.api, user));
    const login = `login ${user.email} ${user.password}`;

    expect(
      await follow(
        'plain',
        plain.url,
        login,
        'profile',
        `token ${expired}`,
        'profile',
        'session',
        login,
        'token spoilt',
        'profile',
        'session',
        login,
        'profile',
      ),
    ).toEqual([
      '',
      user.email,
      'done',
      'TOKEN_EXPIRED',
      'null',
      '',
      'done',
      'TOKEN_INVALID',
      'null',
      '',
      user.email,
    ]);
    expect(
      await follow('full', plain.url, `session ${expired} from-before`, 'profile', 'session'),
    ).toEqual(['done', 'TOKEN_EXPIRED', 'null']);
  });

  it('says when to try again when API Gateway throttles its requests, and keeps its tokens', async () => {
    const user = await makeUser(api, adminToken);
    const { token, refreshToken } = (await api('POST', '/api/login', { json: user })).body;
    const session = `session ${expiredFull(token)} ${refreshToken}`;
    onTestFinished(() => gateway.throttled.clear());

    gateway.throttled.add('/api/login').add('/api/refresh');
    const throttled = await follow(
      'full',
      gateway.url,
      `login ${user.email} ${user.password}`,
      session,
      'profile',
      'session',
    );
    gateway.throttled.clear();
    const later = await follow('full', gateway.url, session, 'profile');

    const message = 'Try again in 10 seconds.';
    expect(throttled).toEqual([message, 'done', message, expect.stringContaining(refreshToken)]);
    expect(later).toEqual(['done', user.email]);
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
