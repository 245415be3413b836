import { createHash } from 'node:crypto';
import type { ApiRequest } from './request.ts';

/** Whether `If-None-Match` names an entity tag (RFC 9110, section 13.1.2), by the weak comparison. */
const names = (header: string | undefined, tag: string): boolean => {
  const listed: readonly string[] = header?.match(/"[^"]*"/g) ?? [];
  return header?.trim() === '*' || listed.includes(tag);
};

/**
 * The response to GET or HEAD of a text that clients may keep if they ask each time whether it has
 * changed (RFC 9111, section 5.2.2.4).
 */
export const revalidated = (
  { headers, requestContext: { http } }: ApiRequest,
  text: { readonly body: string; readonly contentType: string },
  ownHeaders: Readonly<Record<string, string>> = {},
) => {
  const tag = `"${createHash('sha256').update(text.body).digest('base64url')}"`;
  const isKnown = names(headers['if-none-match'], tag);
  return {
    statusCode: isKnown ? 304 : 200,
    headers: { 'Cache-Control': 'no-cache', ETag: tag, ...ownHeaders },
    // Without a body too: a gateway would put a type of its own in its place.
    contentType: text.contentType,
    body: isKnown || http.method === 'HEAD' ? '' : text.body,
  };
};
