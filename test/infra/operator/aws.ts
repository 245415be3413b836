import type { IncomingMessage, ServerResponse } from 'node:http';
import { inject, onTestFinished } from 'vitest';
import { startLoopback } from '../../support/loopback.ts';
import type { OperatedService } from '../../support/operator.ts';

export const arn = 'arn:aws:sts::123456789012:assumed-role/engineers/ada';

/** What goes wrong with requests of one kind: they are done and get no answer, or are refused. */
type Mishap = 'lost answer' | 'AccessDeniedException' | undefined;

interface SecretVersion {
  readonly id: string;
  readonly value: string;
}

export interface Aws {
  /** Where commands find it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The signing secret, newest first. */
  readonly secret: readonly SecretVersion[];
  /** Has all later requests go wrong that do this, such as `PutSecretValue`. */
  impose(operation: string, mishap: Mishap): void;
}

const queryAnswer = (action: string, result: string) =>
  `<${action}Response xmlns="urn:x"><${action}Result>${result}</${action}Result></${action}Response>`;

type Outputs = Readonly<Record<string, unknown>>;

const parameterOf = ({ environment }: OperatedService, more: Outputs) => {
  const known = {
    UsersTableName: environment.USERS_TABLE ?? '',
    AuditTableName: environment.AUDIT_TABLE ?? '',
    SigningSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:signing',
    Settings: { BCRYPT_COST: '4' },
    ...more,
  };
  return JSON.stringify({ Parameter: { Value: JSON.stringify(known) } });
};

const callerIdentity = queryAnswer(
  'GetCallerIdentity',
  `<Arn>${arn}</Arn><UserId>A:ada</UserId><Account>123456789012</Account>`,
);

/** What AWS does with a request, and what it says. */
type Services = Readonly<Record<string, (body: string) => string>>;

const makeServices = (
  service: OperatedService,
  secret: SecretVersion[],
  outputs: Outputs,
): Services => ({
  GetParameter: () => parameterOf(service, outputs),
  GetCallerIdentity: () => callerIdentity,
  GetSecretValue: (body) => {
    const version = secret[JSON.parse(body).VersionStage === 'AWSPREVIOUS' ? 1 : 0];
    if (!version) return JSON.stringify({ __type: 'ResourceNotFoundException' });
    const { id: VersionId, value: SecretString } = version;
    return JSON.stringify({ VersionId, SecretString, CreatedDate: 1_700_000_000 });
  },
  PutSecretValue: (body) => {
    const { ClientRequestToken: id, SecretString: value } = JSON.parse(body);
    if (secret[0]?.id !== id) secret.unshift({ id, value });
    return JSON.stringify({ VersionId: id });
  },
});

/** DynamoDB is the engine of all tests. */
const toEngine = async (
  { headers }: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> => {
  const named = ['x-amz-target', 'x-amz-date', 'authorization'];
  const signed = named.map((name) => [name, String(headers[name])]);
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  const sent = { ...type, ...Object.fromEntries(signed) };
  const answer = await fetch(inject('engine'), { method: 'POST', headers: sent, body });
  response.writeHead(answer.status, type).end(await answer.text());
};

const operationOf = (incoming: IncomingMessage, body: string): string =>
  String(incoming.headers['x-amz-target'] ?? body.match(/Action=(\w+)/)?.[1]).replace(/^.*\./, '');

/**
 * Starts it for one test, with the tables of a service and a secret of its own.
 * @param outputs of the service, besides those that each has
 */
export const awsForThisTest = async (
  service: OperatedService,
  outputs: Outputs = {},
): Promise<Aws> => {
  const secret: SecretVersion[] = [{ id: 'first', value: 'f'.repeat(64) }];
  const services = makeServices(service, secret, outputs);
  const mishaps = new Map<string, Mishap>();
  const { url, stop } = await startLoopback(async (incoming, body, response) => {
    const operation = operationOf(incoming, body);
    const serve = services[operation];
    if (!serve) return toEngine(incoming, body, response);
    const mishap = mishaps.get(operation);
    if (mishap === 'AccessDeniedException') {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.1' });
      return response.end(JSON.stringify({ __type: mishap, message: 'not authorized' }));
    }
    const answer = serve(body);
    if (mishap) return incoming.socket.resetAndDestroy();
    const isRefusal = answer.startsWith('{"__type"');
    response.writeHead(isRefusal ? 400 : 200, {
      'content-type': answer.startsWith('<') ? 'text/xml' : 'application/x-amz-json-1.1',
    });
    return response.end(answer);
  });
  onTestFinished(stop);
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    HOME: service.folder,
  };
  return { environment, secret, impose: (operation, mishap) => mishaps.set(operation, mishap) };
};
