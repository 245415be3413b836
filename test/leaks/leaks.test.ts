import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { register } from '../support/client.ts';
import { exampleRequests } from '../support/examples.ts';
import { faults } from '../support/proxy.ts';
import { callEverything, lastingFaults, type Run, startRun } from './run.ts';
import { leaksIn } from './search.ts';

const auditTable = ({ service }: Run) => service.environment.AUDIT_TABLE ?? '';

describe('A run of the service', () => {
  it('leaves no secret in output, tables or responses, the audit table missing or not', async () => {
    const run = await startRun();

    await callEverything(run);
    run.proxy.impose({ fault: faults.missingTable, table: auditTable(run) });
    const statuses = await callEverything(run);
    const places = await run.end();

    // Only the query of the log cannot do without it.
    const queries = exampleRequests.filter(({ operations }) => operations.includes('read audit'));
    expect(statuses.filter((status) => status >= 500)).toEqual(queries.map(() => 500));
    expect(places['the output']).toContain('audit-entry-not-written');
    expect(run.secrets.length).toBeGreaterThan(60);
    expect(leaksIn(places, run.secrets)).toEqual([]);
  });

  it('leaves no secret there when the engine fails, or cannot be reached', async () => {
    const run = await startRun();
    await callEverything(run);

    for (const fault of lastingFaults) {
      run.proxy.impose({ fault });
      expect(await callEverything(run)).toContain(500);
    }
    run.proxy.impose();
    await run.proxy.refuse();
    expect(await callEverything(run)).toContain(500);
    await run.proxy.accept();
    const places = await run.end();

    expect(leaksIn(places, run.secrets)).toEqual([]);
  });
});

describe('The search for secrets', () => {
  it.each(['password', 'token', 'hash', 'signing secret'])(
    'finds a planted %s in any spelling',
    (kind) => {
      const value = `a "b" ${randomUUID()}.${randomUUID()}`;
      const texts = [
        `x${value}x`,
        JSON.stringify({ value }),
        `?q=${encodeURIComponent(value)}`,
        Buffer.from(value).toString('base64'),
        Buffer.from(value).toString('hex'),
      ];

      const leaks = texts.map((text) => leaksIn({ 'a place': text }, [{ kind, value }]));

      expect(leaks).toEqual(texts.map(() => [`a ${kind} in a place`]));
    },
  );

  it('finds a secret that the service itself prints, stores or responds with', async () => {
    const printing = 'data:text/javascript,console.error(process.env.JWT_SECRET)';
    const run = await startRun({ NODE_OPTIONS: `--import=${printing}` });
    const password = randomUUID();

    const { token, id } = await register(run.service.api, { password });
    await run.call('PUT', `/api/users/${id}`, { token, json: { name: password } });
    await run.call('POST', '/api/login', {
      json: { email: 'nobody@example.org', password },
      headers: { 'user-agent': `agent ${password}` },
    });
    const places = await run.end();

    expect(leaksIn(places, run.secrets)).toEqual(
      expect.arrayContaining([
        'a signing secret in the output',
        'a password in the users table',
        'a password in the audit table',
        'a password in an answer',
      ]),
    );
    const { value } = run.secrets.find(({ kind }) => kind === 'hash') ?? { value: '' };
    const withHash = { ...places, 'the audit table': `{"details":"${value}"}` };
    expect(leaksIn(withHash, run.secrets)).toContain('a hash in the audit table');
  });
});
