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
  /** What a 500 calls the fault. */
  readonly fault: string | undefined;
  readonly milliseconds: number;
  /** Action and result of each entry that the call left in the table. */
  readonly stored: readonly string[];
  /** The same of each line that says an entry could not be written. */
  readonly logged: readonly string[];
  /** The same of the entries that either the table or the log has, each counted once. */
  readonly kept: readonly string[];
}

/** Outcomes by the endpoint's name. */
export type Column = ReadonlyMap<string, Outcome>;

/** The audit entries whose loss a service has reported on its diagnostic output. */
const unwrittenEntries = (output: string): readonly AuditEntry[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"event":"audit-entry-not-written"'))
    .map((line) => JSON.parse(line).entry);

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
  const loggedEntries = unwrittenEntries(service.output());
  const outcomes = new Map<string, Outcome>();
  for (const [i, { example, agent }] of prepared.entries()) {
    const { status = 0, body, milliseconds = 0 } = answers[i] ?? {};
    const [stored, logged] = [storedEntries, loggedEntries].map((entries) =>
      entries.filter(({ user_agent }) => user_agent === agent),
    ) as [AuditEntry[], AuditEntry[]];
    const ids = new Set(stored.map(({ id }) => id));
    outcomes.set(example.name, {
      answer: describeAnswer(status, body),
      fault: body?.err ?? body?.insertErr,
      milliseconds,
      stored: stored.map(label),
      logged: logged.map(label),
      kept: [...stored, ...logged.filter(({ id }) => !ids.has(id))].map(label),
    });
  }
  const broken = brokenItems(await scan(engine, USERS_TABLE));
  return { outcomes, broken };
};
