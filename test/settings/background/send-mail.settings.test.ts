import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { handler } from '../../../functions/background/send-mail.ts';
import { readResetLink } from '../../../lib/options/links/mailed-link.ts';
import type { MailMessage } from '../../../lib/options/mails/hand-over.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { unmatchableHash } from '../../../lib/users/user.ts';
import { mailingFunctionForThisFile, mailSettings, tokenIn } from '../../support/mailbox.ts';
import { faults, overtake } from '../../support/proxy.ts';
import { scanAudit } from '../../support/stored-items.ts';
import { insertedUser, setFields } from '../../support/stored-user.ts';

const { proxy, mailbox, tables, logged } = await mailingFunctionForThisFile(({ environment }) => ({
  ...mailSettings,
  ...environment,
}));

const source = { ip_address: '192.0.2.1', user_agent: 'test', time: '2026-11-21T09:05:30.000Z' };
const asked = (email: string, request_id: string = crypto.randomUUID()): MailMessage => ({
  kind: 'reset',
  email,
  request_id,
  ...source,
});
/** The fields of a user who has no way to log in. */
const nobody = { password_hash: unmatchableHash(4) };
const changed = (email: string, request_id: string = crypto.randomUUID()) =>
  ({
    kind: 'notice',
    email,
    changed: ['password'],
    request_id,
    ...source,
  }) as const satisfies MailMessage;
const mailsTo = (email: string) => mailbox.mails.filter(({ to }) => to.includes(email));
const entriesAbout = async ({ id }: { id: number }) =>
  (await scanAudit(inject('engine'), tables.audit)).filter(
    ({ resource_id }) => resource_id === String(id),
  );

describe('The function that mails', () => {
  beforeEach(() => {
    proxy.impose();
    mailbox.fail();
    logged.mockClear();
  });

  it('mails nothing where a URL that only a deployment knew is wrong, and logs its name', async () => {
    const user = await insertedUser();
    vi.stubEnv('RETURN_URL', 'nowhere');
    onTestFinished(() => void vi.stubEnv('RETURN_URL', undefined));

    await expect(handler(asked(user.email))).rejects.toThrow('No mail was sent: ConfigError');

    expect(mailsTo(user.email)).toEqual([]);
    expect(logged.mock.lastCall?.[0]).toContain('Environment variable RETURN_URL must be ');
  });

  it('records an entry about the account, with the request’s id and without a caller', async () => {
    const user = await insertedUser();

    await handler(asked(user.email, 'request-7'));

    expect(await entriesAbout(user)).toEqual([
      expect.objectContaining({
        user_id: null,
        action: 'UPDATE',
        resource: 'users',
        result: 'SUCCESS',
        ip_address: '192.0.2.1',
        user_agent: 'test',
        request_id: 'request-7',
        details: '{"fields":[],"by":"reset","requested":true}',
      }),
    ]);
  });

  it('mails no link to a user who is suspended, and records nothing', async () => {
    const user = await insertedUser({ suspended_at: new Date().toISOString() });
    const { id, email } = user;

    await handler(asked(email));
    await handler({ ...asked(email), kind: 'verification', user_id: id } as MailMessage);

    expect(mailsTo(email)).toEqual([]);
    expect(await entriesAbout(user)).toEqual([]);
  });

  const waiting = { pending_email: 'newer@example.org', pending_until: 9_999_999_999 };
  it.each([
    ['the link that verifies its present address', {}, undefined, 1],
    ['no link for an address that is already verified', { email_verified: true }, undefined, 0],
    ['no link for an address that it is about to give up', waiting, undefined, 0],
    ['no link for an address that it had before', {}, 'older@example.org', 0],
  ])('mails an account %s', async (_, fields, older, count) => {
    vi.stubEnv('EMAIL_VERIFICATION', 'on');
    vi.stubEnv('VERIFY_URL', 'https://app.example.com/verify');
    onTestFinished(() => void vi.stubEnv('EMAIL_VERIFICATION', 'off'));
    const user = await insertedUser(fields);
    const { id: user_id, email } = { ...user, ...(older ? { email: older } : {}) };

    await handler({ ...asked(email), kind: 'verification', user_id } as MailMessage);

    expect(mailsTo(email)).toHaveLength(count);
  });

  it.each<[string, Partial<StoredUser>, number, boolean]>([
    ['mails an invitation to a user who has no way in', nobody, 0, true],
    ['mails no invitation to a user who has a password by now', {}, 0, false],
    [
      'mails no invitation to a user who is an admin by now',
      { ...nobody, role: 'admin' },
      0,
      false,
    ],
    [
      'mails no invitation to a user who is suspended by now',
      { ...nobody, suspended_at: source.time },
      0,
      false,
    ],
    [
      'mails no invitation to a user who has the address in place of the invited user',
      nobody,
      1,
      false,
    ],
  ])('%s, and records nothing', async (...row) => {
    const [, fields, later, isMailed] = row;
    const user = await insertedUser(fields);
    const message = { ...asked(user.email), invites: user.id + later };

    await handler(message);

    expect(mailsTo(user.email).map(({ subject }) => subject)).toEqual(
      isMailed ? ['Your account at app.example.com'] : [],
    );
    expect(await entriesAbout(user)).toEqual([]);
  });

  it.each<[string, Partial<StoredUser>, number]>([
    ['mails no invitation to a user who gets a password meanwhile', { password_hash: 'a hash' }, 0],
    [
      'mails an invitation at once and only once to a user who is renamed meanwhile',
      { name: 'I' },
      1,
    ],
  ])('%s', async (_, fields, count) => {
    const user = await insertedUser(nobody);
    const message = { ...asked(user.email), invites: user.id };

    await overtake(
      proxy,
      'UpdateItem',
      () => handler(message),
      () => setFields(user.id, fields),
      { after: 1 },
    );

    expect(mailsTo(user.email)).toHaveLength(count);
  });

  it('mails a request that is delivered again because SES refused the first mail', async () => {
    const user = await insertedUser();
    const message = asked(user.email);
    mailbox.fail(400);
    await expect(handler(message)).rejects.toThrow('No mail was sent');

    await handler(message);

    const [mail] = mailsTo(user.email);
    expect(await readResetLink(mail ? tokenIn(mail) : '')).toBeDefined();
    expect(mailsTo(user.email)).toHaveLength(1);
    expect(await entriesAbout(user)).toHaveLength(1);
  });

  it('does not retry a mail that SES refuses for good, and logs no address', async () => {
    const refusal = 'BadRequestException';
    const user = await insertedUser();
    const message = asked(user.email);
    mailbox.fail(refusal, refusal);

    await handler(message);
    await handler(changed(user.email, 'request-8'));
    await handler(message);

    expect(mailsTo(user.email)).toEqual([]);
    expect(await entriesAbout(user)).toEqual([]);
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toEqual([
      { level: 'error', event: 'mail-not-sent', requestId: message.request_id, fault: refusal },
      { level: 'error', event: 'mail-not-sent', requestId: 'request-8', fault: refusal },
    ]);
  });

  it('tells Lambda to retry a mail that SES refuses for now, and logs no address', async () => {
    const user = await insertedUser();
    mailbox.fail('AccountSuspendedException');

    await expect(handler(asked(user.email))).rejects.toThrow('AccountSuspendedException');

    expect(String(logged.mock.calls)).toContain('"fault":"AccountSuspendedException"');
    expect(String(logged.mock.calls)).not.toContain(user.email);
  });

  it('tells Lambda to try again when the store fails, and logs no address', async () => {
    const user = await insertedUser();
    proxy.impose({ fault: faults.missingTable, table: tables.users });

    await expect(handler(asked(user.email))).rejects.toThrow(/^No mail was sent: /);

    expect(String(logged.mock.calls)).toContain('mail-not-sent');
    expect(String(logged.mock.calls)).not.toContain(user.email);
  });

  it('sends no second mail if it cannot be stored that the first mail was sent', async () => {
    const user = await insertedUser();
    // The first update claims the request; the second update records that the mail was sent.
    let updates = 0;
    proxy.impose({
      operation: 'UpdateItem',
      fault: (exchange) => {
        updates += 1;
        return updates > 1 ? faults.missingTable(exchange) : faults.pass(exchange);
      },
    });

    await handler(asked(user.email));

    expect(mailsTo(user.email)).toHaveLength(1);
    expect(String(logged.mock.calls)).toContain('mail-not-marked');
  });

  it('sends the mail when its audit entry cannot be written, and logs the entry', async () => {
    const user = await insertedUser();
    proxy.impose({ fault: faults.missingTable, table: tables.audit });

    await handler(asked(user.email));

    expect(mailsTo(user.email)).toHaveLength(1);
    expect(String(logged.mock.calls)).toContain('audit-entry-not-written');
  });

  it('sends nothing to an address that may be read as another address, and does not try again', async () => {
    const email = 'a,victim@example.org';
    await insertedUser({ email });

    await handler(asked(email));
    await handler(changed(email));

    expect(JSON.stringify(mailbox.mails)).not.toContain('victim');
    expect(String(logged.mock.calls)).toContain('AddressNotMailable');
  });

  it('puts no text that a client may choose into a mail, except for the address', async () => {
    const name = '<script>alert(1)</script> Call +1 555 0100';
    const user = await insertedUser({ name, email: "o'hara&co@example.org" });

    await handler({ ...asked(user.email), user_agent: '<b>evil</b>' });

    const [mail] = mailsTo(user.email);
    expect(JSON.stringify(mail)).not.toMatch(/script|555|evil/);
    expect(mail?.html).toContain('o&#39;hara&#38;co@example.org');
    expect(mail?.text).toContain("o'hara&co@example.org");
  });

  it('tells Lambda to try again when SES refused a notice, and sends the notice once', async () => {
    const message = changed('late@example.org');
    mailbox.fail(400);

    await expect(handler(message)).rejects.toThrow('No mail was sent');
    await handler(message);
    await handler(message);

    expect(mailsTo('late@example.org')).toHaveLength(1);
  });
});
