/**
 * The steps of a proof for which the emulator lacks something. A server on this machine responds to the library that
 * calls AWS, in the form that the API references of AWS document.
 */
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fileName } from '../../lib/seal/header.ts';
import { clean } from '../prove/clean.ts';
import { raiseAlarm } from '../rehearsal/alarm.ts';
import { awsClient, type Call } from '../rehearsal/aws.ts';
import { endAll } from '../rehearsal/command.ts';
import { clientOf, type Deployment } from '../rehearsal/deployment.ts';
import { sendToSimulator } from '../rehearsal/mail.ts';
import { tryThrottles } from '../rehearsal/measures.ts';
import { type Deployed, doStep, type Proof, type Step } from '../rehearsal/proof.ts';
import { installPython } from '../rehearsal/python.ts';
import { deleteLocked } from '../rehearsal/seal.ts';
import { startLoopback } from '../support/loopback.ts';

/** The test waits as long as a proof does. */
const timeout = 600_000;

interface Response {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response by the name of its operation. @param input the body as it came */
type Responses = Readonly<Record<string, (input: string, path: string) => Response>>;

const json = (value: object, status = 200): Response => ({
  ...{ status, type: 'application/x-amz-json-1.1', body: JSON.stringify(value) },
});

const refusal = (name: string, message: string): Response => json({ __type: name, message }, 400);

const xml = (body: string, status = 200): Response => ({ status, type: 'text/xml', body });

/** A result of CloudFormation or SNS (their API references, Common elements). */
const result = (operation: string, body = ''): Response =>
  xml(
    `<${operation}Response><${operation}Result>${body}</${operation}Result><ResponseMetadata><RequestId>4a1</RequestId></ResponseMetadata></${operation}Response>`,
  );

const queryError = (code: string, message: string, status = 400): Response =>
  xml(
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>4a2</RequestId></ErrorResponse>`,
    status,
  );

/** An error of S3 (its API reference, Error responses). */
const s3Error = (code: string, message: string, status = 403): Response =>
  xml(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`, status);

/** The operation of a request: in a header, in a form, or as method, path and the names of its query. */
const operationOf = ({ headers, method, url = '/' }: IncomingMessage, body: string): string => {
  const target = headers['x-amz-target'];
  if (target) return String(target).replace(/^.*\./, '');
  const form = /(?:^|&)Action=(\w+)/.exec(body);
  if (form?.[1]) return form[1];
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  return [method, pathname, ...searchParams.keys()].join(' ');
};

/** Starts what responds. @returns what calls it, and the operations that were called, in order */
const startAws = async (responses: Responses) => {
  const called: string[] = [];
  const { url, stop } = await startLoopback((request, body, response) => {
    const operation = operationOf(request, body);
    called.push(operation);
    const respond = responses[operation];
    const {
      status = 200,
      type = 'text/xml',
      body: text = '',
      headers,
    } = respond?.(body, request.url ?? '') ?? refusal('NotInThisTest', operation);
    response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': '4a0', ...headers });
    response.end(text);
  });
  onTestFinished(stop);
  const call: Call = awsClient({
    ...{ AWS_ENDPOINT_URL: url, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  });
  return { call, called, place: { name: 'AWS', call, run: '0a1b2c3d', region: 'eu-central-1' } };
};

beforeAll(async () => {
  await installPython();
  return endAll;
}, timeout);

const run = '0a1b2c3d';
const prefix = `accounts-proof-${run}`;

/** Nothing of a run, in each list of its inventory. */
const nothing: Responses = {
  DescribeStacks: () => result('DescribeStacks', '<Stacks/>'),
  GetResources: () => json({ PaginationToken: '', ResourceTagMappingList: [] }),
  ListTables: () => json({ TableNames: ['others'] }),
  'GET /': () => xml('<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>'),
  ListSecrets: () => json({ SecretList: [] }),
  DescribeLogGroups: () => json({ logGroups: [{ logGroupName: '/aws/lambda/others' }] }),
  'GET /2015-03-31/functions': () => json({ Functions: [] }),
  'GET /2015-03-31/functions/': () => json({ Functions: [] }),
  ListQueues: () => json({}),
  ListTopics: () => result('ListTopics', '<Topics/>'),
};

const arnOf = (service: string, resource: string) =>
  `arn:aws:${service}:eu-central-1:123456789012:${resource}`;

const tagged = (...arns: readonly string[]): Response =>
  json({ ResourceTagMappingList: arns.map((ResourceARN) => ({ ResourceARN, Tags: [] })) });

describe('--clean', () => {
  it(
    'deletes a stack without a resource that the stack cannot delete, and then this resource',
    async () => {
      const there = { stack: true, isProtected: true, status: 'CREATE_FAILED', rule: true };
      const bus = { isThere: true, arn: arnOf('events', `event-bus/${prefix}-production`) };
      const name = `${prefix}-production`;
      const { call, called } = await startAws({
        ...nothing,
        DescribeStacks: (input) => {
          const isNamed = input.includes('StackName=');
          if (!(there.stack || isNamed)) return result('DescribeStacks', '<Stacks/>');
          if (!there.stack) return queryError('ValidationError', `${name} does not exist`);
          const tag = `<member><Key>accounts-proof</Key><Value>${run}</Value></member>`;
          return result(
            'DescribeStacks',
            `<Stacks><member><StackName>${name}</StackName><StackStatus>${there.status}</StackStatus><CreationTime>2026-11-29T10:00:00Z</CreationTime><Tags>${tag}</Tags></member></Stacks>`,
          );
        },
        UpdateTerminationProtection: (input) => {
          there.isProtected = !input.includes('EnableTerminationProtection=false');
          return result('UpdateTerminationProtection', '<StackId>s</StackId>');
        },
        DeleteStack: (input) => {
          if (there.isProtected)
            return queryError('ValidationError', 'TerminationProtection is on');
          if (input.includes('RetainResources.member.1=EventBus')) there.stack = false;
          there.status = 'DELETE_FAILED';
          return result('DeleteStack');
        },
        ListStackResources: () =>
          result(
            'ListStackResources',
            `<StackResourceSummaries>${[
              ['EventBus', 'DELETE_FAILED'],
              ['Api', 'DELETE_COMPLETE'],
            ]
              .map(
                ([id, status]) =>
                  `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceType>AWS::Events::EventBus</ResourceType><ResourceStatus>${status}</ResourceStatus><LastUpdatedTimestamp>2026-11-29T10:00:00Z</LastUpdatedTimestamp></member>`,
              )
              .join('')}</StackResourceSummaries>`,
          ),
        GetResources: () => (bus.isThere ? tagged(bus.arn) : tagged()),
        ListRules: () => json({ Rules: there.rule ? [{ Name: 'failed-logins' }] : [] }),
        ListTargetsByRule: () => json({ Targets: [{ Id: '1', Arn: arnOf('sqs', 'q') }] }),
        RemoveTargets: () => json({ FailedEntryCount: 0, FailedEntries: [] }),
        DeleteRule: () => {
          there.rule = false;
          return json({});
        },
        DeleteEventBus: (input) => {
          if (there.rule) return refusal('ValidationException', 'has rules');
          bus.isThere = JSON.parse(input).Name !== name;
          return json({});
        },
      });

      const { removed, left } = await clean(call, run, () => undefined);

      expect(left).toEqual([]);
      expect(removed).toEqual([`stack ${name}`, `events event-bus ${bus.arn}`]);
      expect(called.filter((one) => one === 'DeleteStack')).toHaveLength(2);
    },
    timeout,
  );

  it(
    'reports a locked bucket as left, and deletes it with all versions once the lock has ended',
    async () => {
      const Bucket = `${prefix}-archive`;
      const state = { locked: true, bucket: true, versions: ['v1', 'v2', 'marker'] };
      const { call } = await startAws({
        ...nothing,
        'GET /': () =>
          xml(
            `<ListAllMyBucketsResult><Buckets>${state.bucket ? `<Bucket><Name>${Bucket}</Name><CreationDate>2026-11-29T10:00:00.000Z</CreationDate></Bucket>` : ''}</Buckets></ListAllMyBucketsResult>`,
          ),
        [`HEAD /${Bucket}`]: () => ({ status: state.bucket ? 200 : 404 }),
        [`GET /${Bucket} versions encoding-type`]: () =>
          xml(
            `<ListVersionsResult><Name>${Bucket}</Name><IsTruncated>false</IsTruncated>${state.versions
              .map((id) => {
                const kind = id === 'marker' ? 'DeleteMarker' : 'Version';
                return `<${kind}><Key>audit-archive/1</Key><VersionId>${id}</VersionId></${kind}>`;
              })
              .join('')}</ListVersionsResult>`,
          ),
        [`DELETE /${Bucket}/audit-archive/1 versionId`]: (_, path) => {
          if (state.locked)
            return s3Error(
              'AccessDenied',
              'Access Denied because object protected by object lock.',
            );
          state.versions = state.versions.filter((id) => !path.endsWith(`=${id}`));
          return { status: 204 };
        },
        [`DELETE /${Bucket}`]: () => {
          if (state.versions.length > 0) return s3Error('BucketNotEmpty', 'not empty', 409);
          state.bucket = false;
          return { status: 204 };
        },
      });

      const today = await clean(call, run, () => undefined);
      state.locked = false;
      const tomorrow = await clean(call, run, () => undefined);

      expect(today.left).toEqual([
        `bucket ${Bucket}: Error: an object is locked: run --clean again when a day has passed`,
      ]);
      expect(tomorrow).toEqual({ removed: [`bucket ${Bucket}`], left: [] });
    },
    timeout,
  );

  it(
    'ends the protection of a table and a log group, and names deleted resources while AWS lists them',
    async () => {
      const table = `${prefix}-users-restored`;
      const group = `/aws/lambda/${prefix}-probe`;
      const state = {
        table: true,
        tableProtected: true,
        group: true,
        groupProtected: true,
        looks: 3,
      };
      const api = 'arn:aws:apigateway:eu-central-1::/apis/a1b2c3';
      const { call, called } = await startAws({
        ...nothing,
        ListTables: () => json({ TableNames: state.table ? [table] : [] }),
        DescribeTable: () =>
          state.table
            ? json({
                Table: {
                  TableName: table,
                  TableStatus: 'ACTIVE',
                  DeletionProtectionEnabled: state.tableProtected,
                },
              })
            : refusal('com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', 'none'),
        UpdateTable: (input) => {
          state.tableProtected = JSON.parse(input).DeletionProtectionEnabled;
          return json({});
        },
        DeleteTable: () => {
          if (state.tableProtected) return refusal('ValidationException', 'protected');
          state.table = false;
          return json({});
        },
        DescribeLogGroups: () => json({ logGroups: state.group ? [{ logGroupName: group }] : [] }),
        PutLogGroupDeletionProtection: (input) => {
          state.groupProtected = JSON.parse(input).deletionProtectionEnabled;
          return json({});
        },
        DeleteLogGroup: () => {
          if (state.groupProtected) return refusal('ValidationException', 'protected');
          state.group = false;
          return json({});
        },
        GetResources: () => {
          const isDeleted = called.includes('DeleteLogGroup') && called.includes('DeleteTable');
          if (isDeleted) state.looks -= 1;
          return state.looks > 0 ? tagged(api) : tagged();
        },
      });
      const told: string[] = [];

      const { removed, left } = await clean(call, run, (line) => told.push(line));

      expect(left).toEqual([]);
      expect(told.join()).toContain(`apigateway apis ${api}`);
      expect(removed).toEqual([`apigateway apis ${api}`, `table ${table}`, `log-group ${group}`]);
    },
    timeout,
  );
});

/** A step of its own, so that it is known how it would be reported in AWS. */
const outcomeOf = (work: () => Promise<string>, proof: object) => {
  const step: Step = { name: 'x', title: 'x', part: 'development', when: 'long', run: work };
  return doStep(step, proof as Proof);
};

describe('A step that only AWS can prove', () => {
  it('raises an alarm and finds it among the messages of the queue', async () => {
    const messages = ['OK', 'ALARM'].map((NewStateValue) =>
      JSON.stringify({
        ...{ Type: 'Notification', Subject: `${NewStateValue}: "accounts-Crashes"` },
        Message: JSON.stringify({ AlarmName: 'accounts-Crashes', NewStateValue }),
      }),
    );
    const { place } = await startAws({
      CreateLogStream: () => json({}),
      PutLogEvents: () => json({ nextSequenceToken: '1' }),
      GetQueueUrl: () => json({ QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/q' }),
      ReceiveMessage: () => {
        const Body = messages.shift();
        return json(Body ? { Messages: [{ MessageId: '1', ReceiptHandle: 'r', Body }] } : {});
      },
    });
    const outputs = { FunctionLogGroupName: 'logs' };
    const deployment = { place, outputs, stackName: 'accounts' } as unknown as Deployment;

    const outcome = await outcomeOf(() => raiseAlarm(deployment), { place });

    expect(outcome).toMatchObject({ outcome: 'proved', requestId: '4a0' });
    expect(outcome.figures).toMatch(/^accounts-Crashes came after \d+ s$/);
  }, 60_000);

  const lock = (Days: number, refused: Response) => ({
    'GET /archive object-lock': () =>
      xml(
        `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>${Days}</Days></DefaultRetention></Rule></ObjectLockConfiguration>`,
      ),
    [`HEAD /archive/audit-archive/${fileName(1)}`]: () => ({
      headers: { 'x-amz-version-id': 'v1' },
    }),
    [`DELETE /archive/audit-archive/${fileName(1)} versionId`]: () => refused,
  });

  it.each([
    ['proves a lock of one day', 1, true, 'proved', 'COMPLIANCE, 1 day'],
    ['fails if the lock has another number of days', 365, true, 'failed', 'The lock is'],
    ['fails if a version can be deleted', 1, false, 'failed', 'A locked version: done'],
  ])('%s', async (_, days, isLocked, wanted, text) => {
    const message = 'Access Denied because object protected by object lock.';
    const refused = isLocked ? s3Error('AccessDenied', message) : { status: 204 };
    const { place } = await startAws(lock(days, refused));
    const deployment = { place, outputs: { AuditArchiveBucketName: 'archive' } };

    const outcome = await outcomeOf(() => deleteLocked(deployment as unknown as Deployment), {
      place,
    });

    expect(outcome.outcome).toBe(wanted);
    expect(outcome.figures + outcome.why).toContain(text);
  });

  it.each([
    ['there is no identity', []],
    ['the identity waits to be verified', [['PENDING', 'example.com']]],
    ['the identity may not send', [['SUCCESS', 'example.com', false]]],
  ])('sends no mail and proves nothing if %s', async (_, identities) => {
    const { place } = await startAws({
      'POST /v2/email/list-identities': () =>
        json({
          EmailIdentities: identities.map(([VerificationStatus, IdentityName, may = true]) => ({
            ...{ IdentityType: 'DOMAIN', IdentityName, SendingEnabled: may, VerificationStatus },
          })),
        }),
    });
    const proof = { place, development: {} };

    const outcome = await outcomeOf(() => sendToSimulator(proof as Proof), proof);

    expect(outcome).toMatchObject({
      outcome: 'not proved',
      why: 'no identity is verified in Amazon SES in eu-central-1',
    });
  });

  const throttled = async (refuses: (n: number) => boolean) => {
    let requests = 0;
    const { url, stop } = await startLoopback((_, __, response) => {
      requests += 1;
      const isRefused = refuses(requests);
      response.writeHead(isRefused ? 429 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: isRefused ? 'Too Many Requests' : 'Unauthorized' }));
    });
    onTestFinished(stop);
    return tryThrottles({ deployment: { api: clientOf(url) } } as unknown as Deployed);
  };

  it('finds that throttles refuse some requests far above the limit and none far below it', async () => {
    const figures = await throttled((n) => n > 1500 && n <= 3000);

    expect(figures).toBe('at 500 a second 1500 of 3000 were refused, at 5 none');
  }, 120_000);

  it.each([
    ['refuse nothing', () => false, 'None of 3000 requests was refused'],
    ['refuse requests far below the limit', () => true, '30 requests were refused at 5 a second'],
  ])(
    'fails if the throttles %s',
    async (_, refuses, message) => {
      await expect(throttled(refuses)).rejects.toThrow(message);
    },
    120_000,
  );
});
