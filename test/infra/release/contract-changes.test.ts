import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForThisFile } from '../../support/folder.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is changed as the JSON that it is
type Document = any;

const folder = folderForThisFile();

const contract = 'functions/openapi.json';

/** What `npm run contract:changes` says of changes: its exit code and what it printed. */
const judge = (...changes: ((document: Document) => void)[]) => {
  const document = JSON.parse(readFileSync(contract, 'utf8'));
  for (const change of changes) change(document);
  const changed = join(folder, 'openapi.json');
  writeFileSync(changed, JSON.stringify(document));
  const { status, stdout } = spawnSync('sh', ['test/contract/changes.sh', contract, changed], {
    encoding: 'utf8',
  });
  return { status, stdout };
};

const newUser = ({ components }: Document) => components.schemas.NewUser;

describe('npm run contract:changes', () => {
  it('finds no change since the newest release that breaks clients', () => {
    const { status, stdout } = spawnSync('sh', ['test/contract/changes.sh'], { encoding: 'utf8' });

    expect(stdout).toMatch(/^0 major, /m);
    expect(status).toBe(0);
  });

  it('fails for changes that break clients, and names each change', () => {
    const { status, stdout } = judge(
      ({ components: { schemas } }) => delete schemas.Problem.properties.retryAfter,
      (document) => {
        newUser(document).properties.phone = { type: 'string' };
        newUser(document).required.push('phone');
      },
      ({ paths }) => delete paths['/api/users/{id}'].get.responses[404],
      ({ paths }) => delete paths['/api/profile'],
    );

    expect(status).toBe(1);
    for (const reason of ['property-removed', 'required-properties-added', 'response-removed']) {
      expect(stdout).toContain(`(${reason})`);
    }
    expect(stdout).toContain('Path `/api/profile` was removed.');
  });

  it.each([
    [
      'is removed',
      ({ components: { examples } }: Document) => delete examples['EMAIL_REGISTERED.problem'],
    ],
    [
      'has another status',
      ({ components: { examples } }: Document) => {
        examples['EMAIL_REGISTERED.problem'].value.status = 400;
      },
    ],
  ])('fails if the code of an error %s', (_, change) => {
    const { status, stdout } = judge(change);

    expect(status).toBe(1);
    expect(stdout).toContain('The code EMAIL_REGISTERED (409) was removed');
  });

  it('accepts changes that clients can ignore', () => {
    const { status, stdout } = judge(
      (document) => {
        newUser(document).properties.phone = { type: 'string' };
      },
      ({ components: { schemas } }) => {
        schemas.User.properties.phone = { type: 'string' };
      },
      ({ paths }) => {
        const { get } = paths['/api/profile'];
        paths['/api/me'] = { get: { ...get, operationId: 'getMe' } };
      },
    );

    expect(stdout).toMatch(/^0 major, [1-9]\d* minor/m);
    expect(status).toBe(0);
  });
});
