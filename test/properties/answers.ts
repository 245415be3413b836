/** What holds of every response, whatever was asked (functions/README.md, Responses). */
import { expect } from 'vitest';
import { httpErrors } from '../../lib/ground/errors.ts';
import type { Answer } from './handlers.ts';

const fixedMessages = new Set(Object.values(httpErrors).map(({ message }) => message));
const aboutField =
  /^(name|email|password|role|userId|action|limit|cursor) (must be|must not be|is) [\w, -]+$/;
const unknownParameter = / is unknown; the parameters are [\w, ]+$/;

const inside = /\n\s+at |node_modules|node:internal|\.ts:\d|\$2[aby]\$\d\d\$/;

/** @param secrets what no answer may hold */
export const expectSound = (
  { status, headers, text }: Answer,
  secrets: readonly string[],
): void => {
  expect(status).toBeLessThan(500);
  expect(headers['Cache-Control']).toBe('no-store');
  expect(headers['X-Request-Id']).toBeDefined();
  const type = text === undefined ? undefined : 'application/json; charset=utf-8';
  expect([headers['Content-Type'], status === 204]).toEqual([type, text === undefined]);

  const everything = JSON.stringify(headers) + (text ?? '');
  for (const secret of secrets) expect(everything).not.toContain(secret);

  if (status < 400) return;
  const body = JSON.parse(text ?? '');
  expect(Object.keys(body)).toEqual(['message']);
  expect(text).not.toMatch(inside);
  if (fixedMessages.has(body.message) || unknownParameter.test(body.message)) return;
  expect(body.message).toMatch(aboutField);
};
