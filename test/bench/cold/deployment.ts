import { randomUUID } from 'node:crypto';
import { createTables } from '../../../infra/local/create-tables.ts';
import { staticFilesFolder } from '../../../infra/static-files.ts';
import type { FunctionDefinition } from '../../../infra/uses.ts';
import { tables } from '../../../lib/dynamodb/tables.ts';
import { claimsWith, signToken } from '../../support/tokens.ts';
import { type Environment, lambdaEnvironment } from './cold-start.ts';
import { startSecretsManager } from './secrets-manager.ts';

/** The tables, the signing secret and the environment that a function needs when it starts. */
export type Deployment = Awaited<ReturnType<typeof deploy>>;

/**
 * Makes tables on a DynamoDB engine, and a signing secret.
 * @param hashCost the cost of password hashes; absent: the default of the service
 */
export const deploy = async (engine: string, { hashCost }: { hashCost?: number } = {}) => {
  // The client that creates the tables runs in this process.
  Object.assign(process.env, lambdaEnvironment);
  const names = { users: `users-${randomUUID()}`, audit: `audit-${randomUUID()}` };
  await createTables(engine, names);
  const secret = randomUUID();
  const secretsManager = await startSecretsManager({ AWSCURRENT: { value: secret, age: 1000 } });

  /** The environment that the stack gives a function: only what the function uses. */
  const environmentOf = (definition: FunctionDefinition): Environment => {
    const { permissions, uses } = definition;
    const { NODE_OPTIONS } = process.env;
    const used = tables.filter(({ name }) => permissions.some(({ table }) => table === name));
    return {
      AWS_ENDPOINT_URL_DYNAMODB: engine,
      SECRETS_URL: secretsManager.endpoint,
      ...Object.fromEntries(used.map(({ name, variable }) => [variable, names[name]])),
      ...(uses.has('signing-secret') ? { JWT_SECRET_ID: 'signing-secret' } : {}),
      ...(uses.has('files') ? { STATIC_FILES: staticFilesFolder() } : {}),
      // Tests wait longer, for machines that have other work; a benchmark does not.
      ...(NODE_OPTIONS ? { NODE_OPTIONS } : {}),
      ...(hashCost ? { BCRYPT_COST: String(hashCost) } : {}),
    };
  };

  return {
    /** The token of an administrator, who is the user with the id 1. */
    token: signToken(claimsWith({ role: 'admin' }), secret),
    environmentOf,
    /** The headers of the requests to Secrets Manager so far. */
    secretRequests: secretsManager.requests,
    stop: secretsManager.stop,
  };
};
