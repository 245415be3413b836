import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { type ApiRequest, type ApiResponse, accepts } from './request.ts';

// The files of a page are compressed when they are bundled (infra/static-files.ts). The name of a file changes with its
// content, so that clients may cache files for ever.

export type FileNames = Readonly<Record<string, string>>;

/**
 * The response to GET or HEAD with a text. Clients may cache the text, but must ask each time whether it has changed
 * (RFC 9111, section 5.2.2.4). If the client accepts gzip, the text is compressed, and has another entity tag.
 */
export function revalidated(
  { headers, requestContext: { http } }: ApiRequest,
  text: { readonly body: string; readonly contentType: string },
  ownHeaders: Readonly<Record<string, string>> = {},
) {
  const coding = accepts(headers['accept-encoding'], 'gzip') ? 'gzip' : '';
  const tag = `"${createHash('sha256').update(coding).update(text.body).digest('base64url')}"`;
  const isKnown = names(headers['if-none-match'], tag);
  const isEmpty = isKnown || http.method === 'HEAD';
  return {
    statusCode: isKnown ? 304 : 200,
    headers: {
      'Cache-Control': 'no-cache',
      ETag: tag,
      Vary: 'Accept-Encoding',
      ...(coding && !isKnown && { 'Content-Encoding': coding }),
      ...ownHeaders,
    },
    // The type is set even if there is no body, because a gateway would add a type of its own.
    contentType: text.contentType,
    body: isEmpty ? '' : coding ? gzipSync(text.body) : text.body,
  };
}

/** The names of the files of a page, from its folder in STATIC_FILES. */
export function fileNames(page: string): FileNames {
  return JSON.parse(readFileSync(join(config.staticFiles, page, 'names.json'), 'utf8'));
}

/** The content codings of the stored files, and the suffixes of their names; the smaller files come first. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

/** The response to a request for `{file}`. @throws {DomainError} FILE_NOT_FOUND */
export function serveFile(
  { headers, pathParameters }: ApiRequest,
  page: string,
  names: FileNames,
): ApiResponse {
  const file = pathParameters?.file ?? '';
  if (!Object.values(names).includes(file)) throw new DomainError('FILE_NOT_FOUND');
  const read = (suffix: string) => readFileSync(join(config.staticFiles, page, file + suffix));
  const accepted = codings.find(([coding]) => accepts(headers['accept-encoding'], coding));
  return {
    statusCode: 200,
    headers: {
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(accepted ? { 'Content-Encoding': accepted[0] } : {}),
    },
    contentType: contentTypes[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    body: accepted ? read(accepted[1]) : gunzipSync(read('.gz')),
  };
}

/** Whether `If-None-Match` names an entity tag, by the weak comparison (RFC 9110, section 13.1.2). */
function names(header: string | undefined, tag: string): boolean {
  const listed: readonly string[] = header?.match(/"[^"]*"/g) ?? [];
  return header?.trim() === '*' || listed.includes(tag);
}
