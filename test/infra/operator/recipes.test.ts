/** The recipes of infra/runbooks.md that bring users of other systems, with the files of infra/recipes as they are. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hash } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { uniqueEmail } from '../../support/client.ts';
import { operatedServiceForThisFile } from '../../support/operator.ts';
import { verificationSettings } from '../../support/verification.ts';

const service = await operatedServiceForThisFile({
  ...verificationSettings.on,
  USER_ATTRIBUTES: '[{"name":"plan","type":"choice","choices":["free","pro"]}]',
});
const bcryptHash = await hash('correct horse', 4);

const hour = 60 * 60 * 1000;
/** A time as PostgreSQL prints it in JSON, in a zone of whole hours behind UTC. */
const timeIn = (zone: string, milliseconds: number) =>
  new Date(milliseconds + Number(zone) * hour).toISOString().replace('Z', `${zone}:00`);

/** The recipe that has a text among its lines. */
const recipeWith = async (text: string): Promise<string> => {
  const page = await readFile('infra/runbooks.md', 'utf8');
  const recipes = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines = '']) => lines);
  const found = recipes.find((lines) => lines.includes(text));
  if (!found) throw new Error(`infra/runbooks.md has no recipe with ${text}`);
  return found;
};

const linesOf = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Follows a recipe in a folder of its own, and imports what it has made. */
const importBy = async (recipe: string, files: Readonly<Record<string, string>>) => {
  const folder = join(service.folder, crypto.randomUUID());
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  if (files.psql) await chmod(join(folder, 'psql'), 0o700);
  await symlink(resolve('infra'), join(folder, 'infra'));
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH, SUPABASE_DB_URL: 'postgres://supabase' };
  await promisify(execFile)('sh', ['-ec', recipe], { cwd: folder, env });
  const { stdout, stderr } = await service.operate(['import-users', join(folder, 'users.ndjson')]);
  return stdout + stderr;
};

/** The attributes as stored, in the order of addresses. */
const attributesOf = async (emails: readonly string[]) => {
  const users = await service.users();
  return emails.map((email) => users.find((each) => each.email === email)?.attributes);
};
/** What apps of other systems keep of users: with a plan, with more than that, and with nothing. */
const metadata = [{ plan: 'pro' }, { plan: 'free', seats: 3, roles: ['x'] }, {}, null, undefined];
const plans = ['{"plan":"pro"}', '{"plan":"free"}', undefined, undefined, undefined];

/** Name, whether the address is verified, and whether the user is suspended; in the order of addresses. */
const standing = async (emails: readonly string[]) => {
  const users = await service.users();
  return emails.map((email) => {
    const user = users.find((each) => each.email === email);
    return user && [user.name, user.email_verified, user.suspended_at !== undefined];
  });
};

describe('The recipe for users of Supabase', () => {
  /** Lines with rows of auth.users: the columns that the recipe uses, and some that it must ignore. */
  const rowsIn = (zone: string, rows: readonly (readonly [string, object])[]) =>
    linesOf(
      rows.map(([email, fields]) => ({
        instance_id: '00000000-0000-0000-0000-000000000000',
        id: crypto.randomUUID(),
        aud: 'authenticated',
        role: 'authenticated',
        email,
        encrypted_password: bcryptHash,
        email_confirmed_at: timeIn(zone, Date.now() - 24 * hour),
        raw_user_meta_data: { sub: 'x', name: 'Ada' },
        created_at: timeIn(zone, Date.now() - 48 * hour),
        banned_until: null,
        deleted_at: null,
        ...fields,
      })),
    );
  // Stands in for a database, which prints times in the zone that it is asked for.
  const psql = '#!/bin/sh\n[ "$1" = postgres://supabase ] && cat "rows-$PGTZ"\n';

  it('keeps unverified addresses, suspends banned users, and finds the name of a user', async () => {
    const rows = (zone: string): readonly (readonly [object, unknown])[] => [
      [{}, ['Ada', true, false]],
      [{ email_confirmed_at: null }, ['Ada', false, false]],
      [{ banned_until: timeIn(zone, Date.now() + hour) }, ['Ada', true, true]],
      [{ banned_until: 'infinity' }, ['Ada', true, true]],
      [{ banned_until: timeIn(zone, Date.now() - hour) }, ['Ada', true, false]],
      [{ encrypted_password: '' }, ['Ada', true, false]],
      [{ raw_user_meta_data: { name: ' ', full_name: 'Ada L.' } }, ['Ada L.', true, false]],
    ];
    const emails = rows('+00').map(uniqueEmail);
    const given = (zone: string) =>
      rowsIn(
        zone,
        rows(zone).map(([fields], i) => [emails[i] ?? '', fields]),
      );
    const unnamed = [uniqueEmail(), uniqueEmail()];
    const withoutName = [{ raw_user_meta_data: null }, { raw_user_meta_data: { name: '' } }];
    const others = rowsIn(
      '+00',
      unnamed.map((email, i) => [email, withoutName[i] ?? {}]),
    );

    const said = await importBy(await recipeWith('psql'), {
      psql,
      'rows-': given('-08') + others,
      'rows-UTC': given('+00') + others,
    });

    expect(await standing(emails)).toEqual(rows('+00').map(([, expected]) => expected));
    expect(await standing(unnamed)).toEqual(
      unnamed.map((email) => [email.split('@')[0], true, false]),
    );
    expect(said).toBe('Imported: 9. Imported before: 0. Lines rejected: 0.\n');
  });

  it('takes an attribute from data that only servers write', async () => {
    const emails = metadata.map(uniqueEmail);
    const rows = metadata.map((each, i): readonly [string, object] => [
      emails[i] ?? '',
      { raw_app_meta_data: each && { provider: 'email', providers: ['email'], ...each } },
    ]);

    const said = await importBy(await recipeWith('psql'), {
      psql,
      'rows-UTC': rowsIn('+00', rows),
    });

    expect(said).toBe('Imported: 5. Imported before: 0. Lines rejected: 0.\n');
    expect(await attributesOf(emails)).toEqual(plans);
  });
});

describe('The recipe for users of Auth0', () => {
  /** A line of the export of hashes and a line of the export of profiles, with fields that matter and others. */
  const ofHash = (id: string, email: string) => ({
    _id: { $oid: id },
    email,
    email_verified: true,
    passwordHash: bcryptHash,
    tenant: 'example',
    connection: 'Username-Password-Authentication',
    _tmp_is_unique: true,
  });
  const ofProfile = (id: string) => ({
    user_id: `auth0|${id}`,
    name: 'Ada',
    created_at: '2020-02-29T10:00:00.000Z',
    email_verified: true,
  });

  it('keeps unverified addresses, suspends blocked users, and finds the name of a user', async () => {
    const flexible = uniqueEmail();
    const identifiers = [{ type: 'email', value: flexible, verified: false }];
    const [verified, unverified] = [{ email_verified: true }, { email_verified: false }];
    const rows: readonly (readonly [hash: object, profile: object | undefined, unknown])[] = [
      [{}, {}, ['Ada', true, false]],
      [unverified, unverified, ['Ada', false, false]],
      [verified, unverified, ['Ada', false, false]],
      [unverified, verified, ['Ada', false, false]],
      [{}, { email_verified: 'false' }, ['Ada', false, false]],
      [{}, { blocked: true }, ['Ada', true, true]],
      [{}, { blocked: false }, ['Ada', true, false]],
      [
        { email: undefined, email_verified: undefined, identifiers },
        { name: '' },
        [flexible, false, false],
      ],
      [{}, undefined, undefined],
    ];
    const users = rows.map(([hash, profile], i) => {
      const id = `5f7c8ec7c33c6c004bbafe8${i}`;
      const email = 'identifiers' in hash ? flexible : uniqueEmail();
      const profiles = profile ? [{ ...ofProfile(id), ...profile }] : [];
      return { email, hash: { ...ofHash(id, email), ...hash }, profiles };
    });

    const said = await importBy(await recipeWith('hashes.ndjson'), {
      'hashes.ndjson': linesOf(users.map(({ hash }) => hash)),
      'profiles.ndjson': linesOf(users.flatMap(({ profiles }) => profiles)),
    });

    const expected = rows.map(([, , user]) => user);
    expect(await standing(users.map(({ email }) => email))).toEqual(expected);
    expect(said).toContain('Imported: 8. Imported before: 0. Lines rejected: 1.\n');
    expect(said).toContain('Line 9: name is required.');
  });

  it('takes an attribute from data that only servers write', async () => {
    const emails = metadata.map(uniqueEmail);
    const ids = metadata.map((_, i) => `5f7c8ec7c33c6c004bbafe9${i}`);
    const profiles = metadata.map((app_metadata, i) => ({
      ...ofProfile(ids[i] ?? ''),
      app_metadata,
    }));

    const said = await importBy(await recipeWith('hashes.ndjson'), {
      'hashes.ndjson': linesOf(emails.map((email, i) => ofHash(ids[i] ?? '', email))),
      'profiles.ndjson': linesOf(profiles),
    });

    expect(said).toBe('Imported: 5. Imported before: 0. Lines rejected: 0.\n');
    expect(await attributesOf(emails)).toEqual(plans);
  });
});
