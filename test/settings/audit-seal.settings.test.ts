import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { outcome, readPages, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { sealedTrail } from '../support/sealed-trail.ts';

const path = '/api/admin/audit-seal';

describe('With a trail of 204 sealed windows,', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shown-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const key = makeKey();
  const signer = localSigner(key);
  // Its end lies ahead, so that the service seals nothing more meanwhile.
  const { trail, window } = await sealedTrail(204, { signer, now: Date.now() + 86_400_000 });
  mkdirSync(join(folder, 'audit-archive'));
  writeFileSync(join(folder, 'audit-seal-key.pem'), key);
  for (const [name, file] of trail.archive.files) {
    writeFileSync(join(folder, 'audit-archive', name), file);
  }
  const { api, adminToken: token } = await serviceForThisFile({ DATA_DIR: folder });

  it('GET /api/admin/audit-seal answers how the seal stands', async () => {
    const { from, until, key: fingerprint } = window(203);

    const { status, body } = await api('GET', path, { token });

    expect(status).toBe(200);
    const file = `${from.replaceAll(/[-:.]/g, '')}.digest.json`;
    expect(body).toEqual({
      key: fingerprint,
      interval: 60,
      newest: { file, from, until, count: 1 },
      behind: null,
      verified: null,
    });
  });

  it('GET /api/admin/audit-seal/digests gives every digest byte for byte, the newest first', async () => {
    const pages = await readPages(api, `${path}/digests`, { token });

    const files = [...trail.archive.files].filter(([name]) => name.endsWith('.digest.json'));
    const sealed = files.sort(([a], [b]) => (a > b ? -1 : 1)).map(([, file]) => file.toString());
    expect(pages.map(({ answer }) => answer.text)).toEqual(
      [sealed.slice(0, 100), sealed.slice(100, 200), sealed.slice(200)].map((all) => all.join('')),
    );
  });

  it('GET /api/admin/audit-seal/digests refuses a limit above 100 and a cursor of another list', async () => {
    const [{ answer } = expect.unreachable()] = await readPages(api, '/api/users?limit=1', {
      token,
      most: 1,
    });
    const cursor = /cursor=[^>]+/.exec(answer.headers.get('link') ?? 'cursor=none')?.[0];

    expect(outcome(await api('GET', `${path}/digests?limit=101`, { token }))).toEqual(
      refusal(400, 'limit must be a whole number from 1 to 100'),
    );
    expect(outcome(await api('GET', `${path}/digests?${cursor}`, { token }))).toEqual(
      refusal(400, 'cursor is invalid'),
    );
  });

  it('GET /api/admin/audit-seal/public-key answers the key that signs', async () => {
    const { headers, text } = await api('GET', `${path}/public-key`, { token });

    expect(text).toBe(signer.publicKey.export({ type: 'spki', format: 'pem' }));
    expect(headers.get('content-type')).toBe('application/x-pem-file');
  });
});

describe('Where nothing is kept,', async () => {
  const { api, adminToken: token } = await serviceForThisFile();

  it.each(['', '/digests', '/public-key'])(
    'GET /api/admin/audit-seal%s is 404 with a code',
    async (end) => {
      const response = await api('GET', path + end, { token });

      expect(outcome(response)).toEqual(refusal(404, 'The audit trail is not sealed'));
      expect(response.headers.get('error-code')).toBe('AUDIT_NOT_SEALED');
    },
  );
});
