import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/config.ts';
import { buildDocument } from '../../../lib/contract/document.ts';
import { errorMeanings, fieldFaultMeanings } from '../../../lib/contract/error-codes.ts';
import type { Caller } from '../../../lib/contract/operation.ts';
import { operationsInForce } from '../../../lib/contract/operations.ts';
import { operationsOf } from '../../../lib/docs/document.ts';
import { errorCodes, httpErrors } from '../../../lib/errors.ts';
import { mailSettings } from '../../support/mailbox.ts';

const settings = configFrom({});
/** With which there are all endpoints. */
const everything = configFrom({ SESSIONS: 'revocable', ...mailSettings });
const document = buildDocument(settings, '/');

const callers: Readonly<Record<Caller, string>> = {
  anyone: 'anyone',
  user: 'any valid token',
  directory: 'any valid token ¹',
  self: 'the user itself, or an admin',
  admin: 'an admin',
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const endpointTable = () =>
  table(
    ['Method and path', 'What it does', 'Who may call it', 'Success'],
    operationsInForce(everything).map(({ route, operation, describe: describing }) => {
      const { id, summary, success } = describing(everything);
      const link = `[${summary}](openapi.json "${id}")`;
      const isReset = route.endsWith('/password-resets');
      const mark = describing(settings).exists === false ? (isReset ? ' ³' : ' ²') : '';
      return [route, link + mark, callers[operation.caller], String(success.status)];
    }),
  );

const errorTable = () =>
  table(
    ['Code', 'Status', 'Message', 'When'],
    errorCodes.map((code) => {
      const { status, message } = httpErrors[code];
      const told = message
        ? `\`${message}\``
        : code === 'STORAGE_FAULT'
          ? 'below'
          : 'names the rule';
      return [`\`${code}\``, String(status), told, errorMeanings[code]];
    }),
  );

const fieldFaultTable = () =>
  table(
    ['Code in `errors`', 'When'],
    Object.entries(fieldFaultMeanings).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );

/** A text with what stands between two markers replaced. */
const fill = (text: string, name: string, content: string): string => {
  const [before = '', rest = ''] = text.split(`<!-- ${name} -->\n`);
  const after = rest.slice(rest.indexOf('<!-- end -->'));
  return `${before}<!-- ${name} -->\n${content}\n${after}`;
};

describe('The document of a service without the variant in memory, with uniform responses', () => {
  const text = JSON.stringify(
    buildDocument(configFrom({ V1_USERS: 'off', LOGIN_ANSWERS: 'uniform' }), '/'),
  );

  it.each(['/api/v1/users', 'MemoryUser', 'USER_NOT_REGISTERED', 'MEMORY_FULL', 'EMAIL_EXISTS'])(
    'says nothing of %s',
    (word) => {
      expect(text).not.toContain(word);
      expect(JSON.stringify(document)).toContain(word);
    },
  );
});

describe('The document of a service with every setting on', () => {
  const whole = buildDocument(
    configFrom({ SESSIONS: 'revocable', CURRENT_PASSWORD: 'required', ...mailSettings }),
    '/',
  );

  it.each(operationsOf(whole))(
    'says of $method $path what it is, under a tag that is described',
    (one) => {
      expect(whole.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...one.tags]));
      expect(one.tags).toHaveLength(1);
      expect(one.summary).toMatch(/^[A-Z].*[^.]$/);
      const described = Object.values(one.responses);
      expect(described.map(({ description }) => description)).not.toContain('');
    },
  );

  it('has endpoints, and a field, that the default settings do not have', () => {
    const paths = Object.keys(whole.paths).filter((path) => !(path in document.paths));
    expect(paths.sort()).toEqual([
      '/api/logout',
      '/api/password-resets',
      '/api/users/{id}/revocations',
    ]);
    expect(JSON.stringify(whole)).toContain('currentPassword');
    expect(JSON.stringify(document)).not.toContain('currentPassword');
  });
});

describe('What `npm run contract` writes', () => {
  it('is functions/openapi.json, the document of the default settings', async () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;

    await expect(text).toMatchFileSnapshot('../../../functions/openapi.json');
  });

  it('is the tables of functions/README.md', async () => {
    const tables = { endpoints: endpointTable(), errors: errorTable(), fields: fieldFaultTable() };
    const text = Object.entries(tables).reduce(
      (filled, [name, content]) => fill(filled, name, content),
      readFileSync('functions/README.md', 'utf8'),
    );

    await expect(text).toMatchFileSnapshot('../../../functions/README.md');
  });
});
