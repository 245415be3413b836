import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useAttributesFile } from '../../../infra/operator/attributes-file.ts';
import { attributesHash } from '../../../infra/parameter.ts';
import { folderForThisFile } from '../../support/folder.ts';

const folder = folderForThisFile();
const list = '[{"name":"plan","type":"text"}]';
// A deployment may be given the list as text, spaced as its author likes.
const hash = attributesHash('[ { "name": "plan", "type": "text" } ]');

const fileWith = (text: string): string => {
  const file = join(folder, 'settings.json');
  writeFileSync(file, text);
  return file;
};

afterEach(() => vi.unstubAllEnvs());

describe('A command that needs the declared attributes', () => {
  it.each([list, ` ${list} `, `{"stage":"production","userAttributes":${list}}`])(
    'reads them from the file %s',
    (text) => {
      vi.stubEnv('USER_ATTRIBUTES', '');

      useAttributesFile(fileWith(text), hash);

      expect(process.env.USER_ATTRIBUTES).toBe(list);
    },
  );

  it('reads no file where none are declared', () => {
    useAttributesFile(undefined, undefined);
  });

  it.each([
    ['no file', undefined, hash, 'name the file of its settings with --attributes.'],
    ['a file for none', 'x', undefined, 'only for a deployed service that declares attributes.'],
    ['no such file', join(folder, 'none'), hash, 'cannot be read (ENOENT).'],
  ])('says what is wrong with its arguments: %s', (_, file, known, message) => {
    expect(() => useAttributesFile(file, known)).toThrow(message);
  });

  it.each([
    ['{', 'is not JSON.'],
    ['[]', 'declares other attributes than the deployed service does'],
    ['{"stage":"production"}', 'declares other attributes than the deployed service does'],
  ])('says what is wrong with a file: %s', (text, message) => {
    expect(() => useAttributesFile(fileWith(text), hash)).toThrow(message);
  });
});
