/** Sends every example while something is wrong, and looks at all that came of it. */
import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { register } from '../support/client.ts';
import { exampleRequestsOf, prepareSubject, promote, sendExample } from '../support/examples.ts';
import type { TestService } from '../support/service.ts';
import { brokenItems, scan, scanAudit } from '../support/stored-items.ts';

export interface Outcome {
  /** The status, with an error's message and the name of the field that a 500 adds to it. */
  readonly answer: string;
  readonly milliseconds: number;
  /** Action and result of each entry that the log has instead of the table. */
  readonly logged: readonly string[];
  /** The same of the entries that either has, each counted once. */
  readonly kept: readonly string[];
}

/** Outcomes by the endpoint's name. */
export type Column = ReadonlyMap<string, Outcome>;

/** The lines by which a service has logged entries that it could not write, by their requests. */
const unwrittenEntries = (output: string): readonly { requestId: string; entry: AuditEntry }[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"event":"audit-entry-not-written"'))
    .map((line) => JSON.parse(line));

const label = ({ action, result }: AuditEntry) => `${action} ${result}`;

const safeName = /^[\w.:-]{1,64}$/;

const describeAnswer = (status: number, body: Record<string, unknown> | undefined): string => {
  if (status < 400 || body === undefined) return String(status);
  const { message, ...rest } = body;
  const [[field, name] = [], ...more] = Object.entries(rest);
  if (field === undefined) return `${status} ${message}`;
  const asSpecified = more.length === 0 && typeof name === 'string' && safeName.test(name);
  return asSpecified ? `${status} ${message} (${field})` : `${status} ${JSON.stringify(body)}`;
};

/** Where all should go well: a machine too busy for the service's time limits is no fault of it. */
const maxTries = 3;

const isWell = (column: Column) =>
  [...column.values()].every(({ answer }) => !answer.startsWith('5'));

/** Calls until every endpoint has answered something else than a fault, or often enough. */
export const untilWell = async (call: () => Promise<Column>): Promise<Column> => {
  let column = await call();
  for (let tries = 1; tries < maxTries && !isWell(column); tries += 1) column = await call();
  return column;
};

export interface Experiment {
  /** Address of the engine itself. */
  readonly engine: string;
  readonly service: TestService;
  /** An admin's token. */
  readonly admin: string;
  /** Begins what is wrong. */
  readonly begin: () => void | Promise<void>;
  /** Ends it. */
  readonly end: () => void | Promise<void>;
  /** Examples that are sent at once. */
  readonly sideBySide: number;
  /** Runs after each such batch. */
  readonly afterBatch?: () => Promise<void>;
}

/**
 * Sends every example, many at once, each on a user of its own that was made before.
 * @returns what came of each, by its name, and the broken items of the users table
 */
export const callAll = async (experiment: Experiment) => {
  const { engine, service, admin, begin, end, sideBySide, afterBatch } = experiment;
  const prepared = [];
  for (const example of exampleRequestsOf(service.environment)) {
    // Where a session is read first, each has an admin of its own: the same read twice would count
    // as a second attempt.
    const needsOwn = example.caller === 'admin' && example.readsFirst;
    const ownAdmin = needsOwn && (await promote(service.api, admin, await register(service.api)));
    const subject = await prepareSubject(service, ownAdmin ? ownAdmin.token : admin, example);
    prepared.push({ example, agent: `test/${randomUUID()}`, subject });
  }
  await begin();
  const answers = [];
  for (let from = 0; from < prepared.length; from += sideBySide) {
    const sent = prepared
      .slice(from, from + sideBySide)
      .map(async ({ example, agent, subject }) => {
        const startedAt = performance.now();
        const headers = { 'user-agent': agent };
        const answer = await sendExample(service.api, example, subject, { headers });
        return { ...answer, milliseconds: performance.now() - startedAt };
      });
    answers.push(...(await Promise.all(sent)));
    await afterBatch?.();
  }
  await end();

  const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;
  const storedEntries = await scanAudit(engine, AUDIT_TABLE);
  const unwritten = unwrittenEntries(service.output());
  const outcomes = new Map<string, Outcome>();
  for (const [i, { example, agent }] of prepared.entries()) {
    const { status = 0, body, milliseconds = 0, headers } = answers[i] ?? {};
    const stored = storedEntries.filter(({ user_agent }) => user_agent === agent);
    const logged = unwritten
      .filter(({ requestId }) => requestId === headers?.get('x-request-id'))
      .map(({ entry }) => entry);
    const ids = new Set(stored.map(({ id }) => id));
    outcomes.set(example.name, {
      answer: describeAnswer(status, body),
      milliseconds,
      logged: logged.map(label),
      kept: [...stored, ...logged.filter(({ id }) => !ids.has(id))].map(label),
    });
  }
  const broken = brokenItems(await scan(engine, USERS_TABLE));
  return { outcomes, broken };
};
