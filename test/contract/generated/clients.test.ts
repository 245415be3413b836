/** Clients that generators make of the document: they compile, and one of them logs in. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from '../../support/client.ts';
import { everySetting } from '../../support/every-setting.ts';
import { startTestService } from '../../support/service.ts';

/** From Maven Central. */
const generator = {
  version: '7.25.0',
  sha256: '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae',
};
const mavenCopy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/** Its settings give it all endpoints and all schemas. */
const service = await startTestService({
  ...everySetting,
  REGISTRATIONS_PER_ADDRESS: '1000',
});
afterAll(() => service.stop());

/** Milliseconds, for what hangs: the first run downloads compilers' packages for minutes. */
const timeout = 1_800_000;

/** Ignored by git. */
const folder = resolve('.contract/generated');
const document = join(folder, 'openapi.json');
const [java, go] = [join(folder, 'java'), join(folder, 'go')];

/** Throws what it wrote when it fails. */
const run = (program: string, args: readonly string[], cwd = folder): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8' });

beforeAll(async () => {
  for (const path of [java, go]) rmSync(path, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(document, (await service.api('GET', '/openapi.json')).text);
});

describe('The client that openapi-generator makes for Java', () => {
  const name = `openapi-generator-cli-${generator.version}.jar`;

  it(
    'compiles',
    () => {
      const artifact = `org.openapitools:openapi-generator-cli:${generator.version}`;
      run('mvn', ['-q', '-B', mavenCopy, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
      const jar = readFileSync(join(folder, name));
      expect(createHash('sha256').update(jar).digest('hex')).toBe(generator.sha256);

      run('java', ['-jar', name, 'generate', '-g', 'java', '-i', document, '-o', java]);

      expect(run('mvn', ['-q', '-B', 'compile'], java)).not.toContain('ERROR');
    },
    timeout,
  );
});

describe('The client that oapi-codegen makes for Go', () => {
  beforeAll(() => {
    cpSync('test/contract/generated/go', go, { recursive: true });
    mkdirSync(join(go, 'accounts'));
    const to = ['-package', 'accounts', '-o', 'accounts/client.go'];
    run('go', ['tool', 'oapi-codegen', '-generate', 'types,client', ...to, document], go);
    run('go', ['build', '-o', 'client', '.'], go);
  }, timeout);

  const logIn = (email: string, password: string) =>
    run(join(go, 'client'), [service.url, email, password]);

  it('compiles, logs in and shows the profile', async () => {
    const { email, password } = await register(service.api);

    expect(logIn(email, password)).toBe(`${email}\n`);
  });

  it('tells errors apart by their codes', async () => {
    const { email } = await register(service.api);

    expect(logIn(email, 'wrong')).toBe('INVALID_CREDENTIALS\n');
    expect(logIn('nobody@example.org', 'wrong')).toBe('USER_NOT_REGISTERED\n');
  });
});
