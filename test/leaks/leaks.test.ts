import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { register } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import { exampleRequests } from '../support/examples.ts';
import { startMailbox, tokenIn } from '../support/mailbox.ts';
import { faults } from '../support/proxy.ts';
import { callEverything, lastingFaults, type Run, startRun } from './run.ts';
import { leaksIn } from './search.ts';

const auditTable = ({ service }: Run) => service.environment.AUDIT_TABLE ?? '';

describe('A run of the service', () => {
  it('leaves no secret in output, tables or responses, whatever fails', async () => {
    const run = await startRun();

    await callEverything(run);
    run.proxy.impose({ fault: faults.missingTable, table: auditTable(run) });
    const statuses = await callEverything(run);
    for (const fault of lastingFaults) {
      run.proxy.impose({ fault });
      expect(await callEverything(run)).toContain(500);
    }
    run.proxy.impose();
    await run.proxy.refuse();
    expect(await callEverything(run)).toContain(500);
    await run.proxy.accept();
    const places = await run.end();

    // Only the query of the trail cannot do without it.
    const queries = exampleRequests.filter(({ operations }) => operations.includes('read audit'));
    expect(statuses.filter((status) => status >= 500)).toEqual(queries.map(() => 500));
    expect(places['the output']).toContain('audit-entry-not-written');
    expect(run.secrets.length).toBeGreaterThan(60);
    expect(leaksIn(places, run.secrets)).toEqual([]);
  });
});

describe('A run with every setting', () => {
  it('leaves no secret and no token of a link in output, tables or responses, whatever fails', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const settings = { ...everySetting, ...mailbox.environment };
    const run = await startRun({ ...settings, LOGIN_FAILURES_PER_ADDRESS: '0' });
    const { email } = run.subject.account;

    const statuses = await callEverything(run);
    await mailbox.mailsTo(email, 2);
    mailbox.fail(400, 500, 400, 500);
    for (const fault of lastingFaults) {
      run.proxy.impose({ fault });
      await callEverything(run);
    }
    run.proxy.impose();
    const places = await run.end();
    const links = mailbox.mails.filter(({ text }) => text.includes('#token='));

    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThan(10);
    expect(links.length).toBeGreaterThan(20);
    expect(places['the output']).toContain('mail-not-sent');
    const mailed = links.map((mail) => ({ kind: 'token', value: tokenIn(mail) }));
    expect(run.secrets.some(({ value }) => value === run.subject.linkToken)).toBe(true);
    expect(leaksIn(places, [...run.secrets, ...mailed])).toEqual([]);
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
