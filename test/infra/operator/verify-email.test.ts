import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { register, uniqueEmail } from '../../support/client.ts';
import { operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { verificationSettings } from '../../support/verification.ts';

const service = await operatedServiceForThisFile(verificationSettings.on);
const { api, operate } = service;

describe('verify-email', () => {
  it('marks the address of a user as verified, once, and leaves an entry', async () => {
    const user = await register(api);

    const first = await operate(['verify-email', user.email]);
    const entry = (await service.entries()).at(-1);
    const second = await operate(['verify-email', user.email]);

    expect([first.status, first.stdout]).toEqual([
      0,
      `The address of user ${user.id} is verified.\n`,
    ]);
    expect([second.status, second.stderr]).toEqual([
      1,
      'The address of this user is verified already.\n',
    ]);
    const { body } = await api('GET', '/api/profile', { token: user.token });
    expect(body.data.email_verified).toBe(true);
    expect(entry).toMatchObject(
      operatorEntry('verify-email', {
        action: 'UPDATE',
        resource_id: String(user.id),
        details: { fields: ['email_verified'] },
      }),
    );
  });
});

describe('import-users and export-users', () => {
  it('carry whether an address is verified, which each line must say', async () => {
    const given = [true, false, 'yes', null, undefined];
    const emails = given.map(uniqueEmail);
    const line = (email: string, i: number) =>
      JSON.stringify({ name: 'N', email, password_hash: null, email_verified: given[i] });
    const file = join(service.folder, 'users.ndjson');
    await writeFile(file, `${emails.map(line).join('\n')}\n`);

    const { stderr } = await operate(['import-users', file]);
    const { stdout } = await operate(['export-users', '-']);

    const exported = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    const verified = emails.map((email) => exported.find((user) => user.email === email));
    expect(verified.map((user) => user?.email_verified)).toEqual([
      true,
      false,
      undefined,
      undefined,
      undefined,
    ]);
    expect(stderr).toContain(
      'Line 3: email_verified must be true or false.\nLine 4: email_verified is required.\nLine 5: email_verified is required.',
    );
  });

  it('leave out, by its line, an address that can never be mailed', async () => {
    const mailable = uniqueEmail();
    const emails = [`jörg.${uniqueEmail()}`, mailable, `a,${uniqueEmail()}`];
    const lines = emails.map((email) =>
      JSON.stringify({ name: 'N', email, password_hash: null, email_verified: true }),
    );
    const file = join(service.folder, 'unmailable.ndjson');
    await writeFile(file, lines.join('\n'));

    const { stderr } = await operate(['import-users', file]);

    const rule = 'email must be an address that mails can be sent to.';
    expect(stderr).toContain(`Line 1: ${rule}\nLine 3: ${rule}`);
    expect((await service.users()).at(-1)).toMatchObject({ email: mailable });
  });
});
