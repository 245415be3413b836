import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { register, uniqueEmail } from '../../support/client.ts';
import {
  type OperatedService,
  operate,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { type EngineProxy, faults, startProxy } from '../../support/proxy.ts';
import { arn, awsForThisTest } from './aws.ts';

interface Proxied {
  readonly service: OperatedService;
  readonly proxy: EngineProxy;
  /** Has DynamoDB do what a command writes to the users table, and every answer to it be lost. */
  loseAnswers(operation: string): void;
}

const proxied = async (): Promise<Proxied> => {
  const proxy = await startProxy(inject('engine'));
  onTestFinished(() => proxy.stop());
  const service = await operatedServiceForThisTest({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  const table = service.environment.USERS_TABLE ?? '';
  const loseAnswers = (operation: string) => proxy.impose({ fault: faults.lose, operation, table });
  return { service, proxy, loseAnswers };
};

const userOf = async ({ users }: OperatedService, email: string) =>
  (await users()).find((user) => user.email === email);

const lost = { error: 'ECONNRESET', outcome: 'unknown' };
const made = { fields: ['password', 'role'], role: { from: 'user', to: 'admin' } };

const notKnown =
  /^It is not known whether the change was made \(ECONNRESET\); its audit entry says so\. /m;

describe('A change by a command, whose response is lost,', () => {
  it('leaves an entry with an unknown outcome: create-admin, of a user', async () => {
    const { service, loseAnswers } = await proxied();
    const { id, email } = await register(service.api);
    loseAnswers('UpdateItem');

    const { status, stderr } = await service.operate(['create-admin', email], 'password');

    expect([status, stderr]).toEqual([1, expect.stringMatching(notKnown)]);
    expect(await userOf(service, email)).toMatchObject({ role: 'admin' });
    expect(await service.entries()).toMatchObject([
      operatorEntry('create-admin', {
        action: 'UPDATE',
        resource_id: String(id),
        result: 'FAILURE',
        details: { ...lost, ...made },
      }),
    ]);
  });

  it('leaves an entry with an unknown outcome and the new id: import-users of an admin', async () => {
    const { service, loseAnswers } = await proxied();
    const [file, email] = [join(service.folder, 'users.ndjson'), uniqueEmail()];
    const password_hash = `$2b$04$${'a'.repeat(21)}e${'a'.repeat(30)}e`;
    await writeFile(file, JSON.stringify({ name: 'N', email, password_hash, role: 'admin' }));
    loseAnswers('TransactWriteItems');

    const { status, stderr } = await service.operate(['import-users', file]);

    const admin = await userOf(service, email);
    const named = { action: 'CREATE', resource_id: String(admin?.id) } as const;
    expect([status, stderr]).toEqual([1, expect.stringMatching(notKnown)]);
    expect(admin).toMatchObject({ role: 'admin' });
    expect(await service.entries()).toMatchObject(
      [
        { action: 'CREATE' as const, details: { stage: 'begun' } },
        { ...named, result: 'FAILURE' as const, details: { ...lost, role: 'admin' } },
        {
          action: 'CREATE' as const,
          result: 'FAILURE' as const,
          details: { stage: 'stopped', ...lost, imported: 0, present: 0, rejected: 0 },
        },
      ].map((fields) => operatorEntry('import-users', fields)),
    );
  });
});

describe('A change that DynamoDB refuses', () => {
  it('leaves a FAILURE entry that names the fault', async () => {
    const { service, proxy } = await proxied();
    const { id, email } = await register(service.api);
    const table = service.environment.USERS_TABLE ?? '';
    proxy.impose({ fault: faults.throughputExceeded, operation: 'UpdateItem', table });

    const { status, stderr } = await service.operate(['create-admin', email], 'password');

    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The command failed: Provisioned/),
    ]);
    expect(await userOf(service, email)).toMatchObject({ role: 'user' });
    expect(await service.entries()).toMatchObject([
      operatorEntry('create-admin', {
        action: 'UPDATE',
        resource_id: String(id),
        result: 'FAILURE',
        details: { error: 'ProvisionedThroughputExceededException', ...made },
      }),
    ]);
  });
});

describe('A command on a deployed stack', () => {
  const onStack = async (
    args: readonly string[],
    prepare: Partial<Record<string, 'lost answer' | 'AccessDeniedException'>> = {},
  ) => {
    const service = await operatedServiceForThisTest();
    const aws = await awsForThisTest(service);
    for (const [operation, mishap] of Object.entries(prepare)) aws.impose(operation, mishap);
    const { environment } = aws;
    const ended = await operate([...args, '--stack', 'accounts'], { environment });
    return { aws, ...ended, entries: await service.entries() };
  };
  const rotation = { action: 'UPDATE', resource: 'signing-secret' } as const;

  it('leaves an entry with the AWS identity that ran it', async () => {
    const { aws, status, stderr, entries } = await onStack(['rotate-secret']);

    expect([status, stderr]).toEqual([0, '']);
    expect(aws.secret).toHaveLength(2);
    expect(entries).toMatchObject([
      operatorEntry('rotate-secret', {
        ...rotation,
        resource_id: aws.secret[0]?.id ?? '',
        details: { operator: arn },
      }),
    ]);
  });

  it('does nothing when AWS STS does not tell who runs it', async () => {
    const silent = { GetCallerIdentity: 'lost answer' } as const;
    const { aws, status, stderr, entries } = await onStack(['rotate-secret'], silent);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^Nothing was done, because AWS STS does not tell your identity/);
    expect(aws.secret).toHaveLength(1);
    expect(entries).toEqual([]);
  });

  it('leaves an entry with an unknown outcome when the response to a rotation is lost', async () => {
    const loses = { PutSecretValue: 'lost answer' } as const;
    const { aws, status, stderr, entries } = await onStack(['rotate-secret'], loses);

    expect([status, stderr]).toEqual([1, expect.stringMatching(notKnown)]);
    expect(aws.secret).toHaveLength(2);
    expect(entries).toMatchObject([
      operatorEntry('rotate-secret', {
        ...rotation,
        resource_id: aws.secret[0]?.id ?? '',
        result: 'FAILURE',
        details: { ...lost, operator: arn },
      }),
    ]);
  });
});
