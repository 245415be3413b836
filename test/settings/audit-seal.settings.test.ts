import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { localSigner } from '../../lib/seal/folder-archive.ts';
import { fingerprintOf, type Header, signHeader } from '../../lib/seal/header.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { appoint } from '../support/examples.ts';
import { folderForThisFile } from '../support/folder.ts';
import { engineClient } from '../support/stored-items.ts';

const path = '/api/admin/audit-seal';
const checksPath = `${path}/checks`;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);

describe('Where the trail is sealed, GET /api/admin/audit-seal', async () => {
  const folder = folderForThisFile();
  const USERS_TABLE = `users-${folder.slice(-6)}`;
  const service = await serviceForThisFile({ DATA_DIR: folder, USERS_TABLE });
  const signer = localSigner(readFileSync(join(folder, 'audit-seal-key.pem'), 'utf8'));
  const key = fingerprintOf(signer.publicKey);
  const get = async () => (await service.api('GET', path, { token: service.adminToken })).body;
  const show = (header: string) =>
    engineClient(inject('engine')).send(
      new PutCommand({ TableName: USERS_TABLE, Item: { pk: 'audit-seal', header } }),
    );

  it('responds with the newest file once the first run has written it', async () => {
    await expect.poll(async () => (await get()).newest).not.toBeNull();

    expect(await get()).toEqual({
      key,
      interval: 300,
      newest: { number: 1, at: time, until: time, count: 0 },
      behind: null,
      check: null,
      days: { table: 0, lock: 0, archive: 0 },
      whole: null,
    });
  });

  it('responds with the seconds by which sealing is behind, and with the result of the last check', async () => {
    const at = '2026-01-01T00:01:00.000Z';
    const finding = { kind: 'changed', subject: '7', at };
    const header: Header = {
      format: 3,
      number: 9,
      previous: '0'.repeat(64),
      at,
      interval: 60,
      from: '2025-12-31T00:00:00.000Z',
      until: '2026-01-01T00:00:00.000Z#0000000000000007',
      count: 100_000,
      oldest: at,
      newest: at,
      length: 1,
      sha256: '0'.repeat(64),
      archive_days: 0,
      check: {
        at,
        first: 1,
        last: 8,
        until: at,
        entries: 4980,
        later: 150,
        part: null,
        findings: 3,
        named: [finding],
        found: at,
      },
      key,
    };
    const { line } = await signHeader(header, signer);
    await show(line);

    const { behind, ...body } = await get();

    expect(body).toEqual({
      key,
      interval: 60,
      newest: { number: 9, at, until: '2026-01-01T00:00:00.000Z', count: 100_000 },
      check: {
        at,
        until: at,
        entries: 4980,
        total: 5130,
        next: '2026-01-01T00:59:00.000Z',
        recent: false,
        findings: 3,
        named: [finding],
        found: at,
      },
      days: { table: 0, lock: 0, archive: 0 },
      whole: null,
    });
    expect(behind).toBeCloseTo((Date.now() - Date.UTC(2026, 0, 1)) / 1000, -3);
    await show(line.replace('"findings":3', '"findings":0'));
    expect((await get()).newest, 'of a header that the key has not signed').toBeNull();
  });
});

describe('Where the trail is sealed, POST /api/admin/audit-seal/checks', async () => {
  const folder = folderForThisFile();
  const own = folder.slice(-6);
  const service = await serviceForThisFile({
    DATA_DIR: folder,
    USERS_TABLE: `users-${own}`,
    AUDIT_TABLE: `audit-${own}`,
    AUDIT_SEAL_INTERVAL: '2',
  });
  const { api, adminToken: token } = service;
  const checkedAt = async () => (await api('GET', path, { token })).body.check?.at ?? '';
  const requests = async () => {
    const query = '/api/admin/audit-logs?action=UPDATE';
    const { body } = await api('GET', query, { token });
    return body.data.filter((entry: { resource: string }) => entry.resource === 'audit-seal');
  };

  it('makes the next run check, and leaves an entry', async () => {
    await expect.poll(checkedAt).not.toBe('');
    const before = await checkedAt();

    const [first, ...more] = await Promise.all(
      [1, 2, 3].map(() => api('POST', checksPath, { token })),
    );

    for (const response of [first, ...more]) {
      expect(response?.status).toBe(202);
      expect(response?.body).toEqual({ message: 'Check requested' });
    }
    await expect.poll(checkedAt).not.toBe(before);
    const entries = await requests();
    expect(entries[0]).toMatchObject({
      user_id: decodeJwt(token).id,
      resource_id: null,
      result: 'SUCCESS',
      details: '{"check":"requested"}',
    });
  });

  it('with `whole` has every file checked, once a day, and leaves an entry', async () => {
    const wholeNow = async () => (await api('GET', path, { token })).body.whole;
    const request = () => api('POST', checksPath, { token, json: { whole: true } });

    const response = await request();
    const again = await request();

    expect(outcome(response)).toEqual([202, { message: 'Check requested' }]);
    expect(outcome(again)).toEqual(refusal(409, 'A whole check was requested within a day'));
    expect(again.headers.get('error-code')).toBe('WHOLE_CHECK_REQUESTED');
    await expect.poll(async () => (await wholeNow()).ended_at).not.toBeNull();
    const { of, ...whole } = await wholeNow();
    expect(whole).toEqual({ asked_at: time, checked: of, ended_at: time });
    expect(of).toBeGreaterThan(1);
    const details = (await requests()).map((entry: { details: string }) => entry.details);
    expect(details[0]).toBe('{"check":"requested","whole":true}');
    expect(details.filter((each: string) => each.includes('whole'))).toHaveLength(1);
  });

  it.each([
    ['an object without it', '{"other":1}', 'application/json'],
    ['no object', '[1]', 'application/json'],
    ['no JSON', 'a check, please', 'text/plain'],
    ['an object without a content type', '{}', ''],
    ['false', '{"whole":false}', 'application/json'],
  ])('responds without `whole` as version 1.0.0 does, if the body is %s', async (_, body, type) => {
    const headers = { 'content-type': type };

    const response = await api('POST', checksPath, { token, body, headers });

    expect(outcome(response)).toEqual([202, { message: 'Check requested' }]);
    const [{ details }] = await requests();
    expect(details).toBe('{"check":"requested"}');
  });

  it.each([
    ['text', '{"whole":"yes"}', 'application/json', 'whole must be true or false'],
    ['JSON without a content type', '{"whole":true}', '', 'Content-Type must be application/json'],
    ['no JSON', '{"whole":', 'application/json', 'Request body is not valid JSON'],
  ])('refuses a body that names `whole`, but is wrong: %s', async (_, body, type, message) => {
    const headers = { 'content-type': type };

    const response = await api('POST', checksPath, { token, body, headers });

    expect(outcome(response)).toEqual(refusal(400, message));
  });
});

describe('Where there are auditors,', async () => {
  const folder = folderForThisFile();
  const { api, adminToken } = await serviceForThisFile({
    DATA_DIR: folder,
    USERS_TABLE: `users-${folder.slice(-6)}`,
    SESSION_DAYS: '90',
  });
  const forbidden = refusal(403, 'Forbidden');

  it('they request checks, but no whole one', async () => {
    const { token } = await appoint(api, adminToken, await register(api));
    const request = (json: object) => api('POST', checksPath, { token, json });

    expect(outcome(await request({ whole: true }))).toEqual(forbidden);
    expect(outcome(await request({ whole: 'yes' }))).toEqual(forbidden);
    expect((await request({ whole: false })).status).toBe(202);
    expect((await api('GET', path, { token })).body.whole).toBeNull();
  });
});

const notSealed = async ({
  api,
  adminToken: token,
}: Awaited<ReturnType<typeof serviceForThisFile>>) => {
  const response = await api('POST', checksPath, { token });
  expect(outcome(response)).toEqual(refusal(404, 'The audit trail is not sealed'));
  expect(response.headers.get('error-code')).toBe('AUDIT_NOT_SEALED');
};

describe('Without a data folder,', async () => {
  const service = await serviceForThisFile();

  it('GET /api/admin/audit-seal is 404 with a code', async () => {
    const response = await service.api('GET', path, { token: service.adminToken });

    expect(outcome(response)).toEqual(refusal(404, 'The audit trail is not sealed'));
    expect(response.headers.get('error-code')).toBe('AUDIT_NOT_SEALED');
  });

  it('no check can be requested', () => notSealed(service));
});

describe('Where sealing is paused,', async () => {
  const service = await serviceForThisFile({ DATA_DIR: folderForThisFile(), AUDIT_SEAL: 'paused' });

  it('no check can be requested', () => notSealed(service));
});
