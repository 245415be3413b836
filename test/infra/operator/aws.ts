/** AWS as commands for a stack meet it: its parameter and secret, the caller's identity, and the engine. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inject, onTestFinished } from 'vitest';
import { AwsRefusal, startAws } from '../../support/aws.ts';
import type { OperatedService } from '../../support/operator.ts';

export const arn = 'arn:aws:sts::123456789012:assumed-role/engineers/ada';

const callerIdentity = `<GetCallerIdentityResponse xmlns="urn:x"><GetCallerIdentityResult>
<Arn>${arn}</Arn><UserId>A:ada</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

/** DynamoDB is the engine of all tests. */
const toEngine = async (
  { headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> => {
  const named = ['x-amz-target', 'x-amz-date', 'authorization'];
  const signed = named.map((name) => [name, String(headers[name])]);
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  const sent = { ...type, ...Object.fromEntries(signed) };
  const answer = await fetch(inject('engine'), { method: 'POST', headers: sent, body });
  response.writeHead(answer.status, type).end(await answer.text());
};

/**
 * Starts it for one test, with the tables of a service and a secret of its own.
 * @param outputs of the service, besides those that each has
 */
export const awsForThisTest = async (
  { environment: { USERS_TABLE, AUDIT_TABLE }, folder }: OperatedService,
  outputs: Readonly<Record<string, unknown>> = {},
) => {
  /** The signing secret, newest first. */
  const secret = [{ id: 'first', value: 'f'.repeat(64) }];
  let silent = '';
  const known = {
    UsersTableName: USERS_TABLE,
    AuditTableName: AUDIT_TABLE,
    SigningSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:signing',
    Settings: { BCRYPT_COST: '4' },
    ...outputs,
  };
  const { url, stop } = await startAws({
    operations: {
      GetParameter: () => ({ Parameter: { Value: JSON.stringify(known) } }),
      GetSecretValue: ({ VersionStage }) => {
        const version = secret[VersionStage === 'AWSPREVIOUS' ? 1 : 0];
        if (!version) throw new AwsRefusal('ResourceNotFoundException');
        const { id: VersionId, value: SecretString } = version;
        return { VersionId, SecretString, CreatedDate: 1_700_000_000 };
      },
      PutSecretValue: ({ ClientRequestToken: id, SecretString: value }) => {
        if (secret[0]?.id !== id) secret.unshift({ id, value });
        return { VersionId: id };
      },
    },
    others: (request, response, body) => {
      if (request.headers['x-amz-target']) return toEngine(request, response, body);
      if (silent === 'GetCallerIdentity') return request.socket.resetAndDestroy();
      return response.writeHead(200, { 'content-type': 'text/xml' }).end(callerIdentity);
    },
    faultOf: (_, operation) => (operation && operation === silent ? 'lost answer' : undefined),
  });
  onTestFinished(stop);
  /** Where commands find it. */
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    HOME: folder,
  };
  /** Has the answers to an operation, such as `PutSecretValue`, be lost. */
  const lose = (operation: string) => {
    silent = operation;
  };
  return { environment, secret, lose };
};
