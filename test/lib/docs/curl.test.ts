import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/config.ts';
import { buildDocument } from '../../../lib/contract/document.ts';
import { curlLine, tokenLine } from '../../../lib/docs/curl.ts';
import { operationsOf } from '../../../lib/docs/document.ts';

const document = buildDocument(configFrom({ SESSIONS: 'revocable' }), 'https://api.example.org/');

const lineOf = (id: string) => {
  const operation = operationsOf(document).find(({ operationId }) => operationId === id);
  return curlLine(document, operation ?? expect.unreachable());
};

describe('The line to paste', () => {
  it('of GET has the token, and the ids of its path', () => {
    expect(lineOf('getUser')).toBe(
      `curl 'https://api.example.org/api/users/17' \\
  --header "Authorization: Bearer $TOKEN"`,
    );
  });

  it('of POST has its body, and no token where it takes none', () => {
    expect(lineOf('logIn')).toBe(
      `curl 'https://api.example.org/api/login' \\
  --header 'Content-Type: application/json' \\
  --data '{
  "email": "ada@example.org",
  "password": "a long password of her own"
}'`,
    );
  });

  it('names the method that curl would not use by itself', () => {
    expect(lineOf('deleteUser').split(' \\\n  ')[1]).toBe('--request DELETE');
    expect(lineOf('updateUser').split(' \\\n  ')[1]).toBe('--request PUT');
    expect(lineOf('revokeSessions').split(' \\\n  ')[1]).toBe('--request POST');
    expect(operationsOf(document).filter(({ method }) => method === 'HEAD')).not.toEqual([]);
    for (const operation of operationsOf(document).filter(({ method }) => method === 'HEAD')) {
      expect(curlLine(document, operation)).toMatch(/ \\\n {2}--head$/);
    }
  });

  it('of a login keeps the token of its response', () => {
    expect(tokenLine(`curl 'https://api.example.org/api/login'`)).toBe(
      `TOKEN=$(curl --silent 'https://api.example.org/api/login' \\
  | sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p')`,
    );
  });
});
