/** Lines to paste into a shell. */
import type { OpenApiDocument } from '../contract/document.ts';
import { type PageOperation, resolve } from './document.ts';

/** Text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const urlOf = (document: OpenApiDocument, { path, parameters = [] }: PageOperation): string => {
  const [{ url }] = document.servers;
  const filled = parameters
    .map((parameter) => resolve(document, parameter))
    .reduce((at, { name, example }) => at.replace(`{${name}}`, String(example)), path);
  return url.replace(/\/$/, '') + filled;
};

/** The options that a method needs: GET needs none, nor does POST with a body. */
const methodOption = ({ method, requestBody }: PageOperation): readonly string[] => {
  if (method === 'GET' || (method === 'POST' && requestBody)) return [];
  return [method === 'HEAD' ? '--head' : `--request ${method}`];
};

/** A request of the operation with the example of its body, and the token `$TOKEN` where it needs one. */
export const curlLine = (document: OpenApiDocument, operation: PageOperation): string => {
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  return [
    `curl ${quoted(urlOf(document, operation))}`,
    ...methodOption(operation),
    ...(operation.security.length > 0 ? ['--header "Authorization: Bearer $TOKEN"'] : []),
    ...(type ? [`--header ${quoted(`Content-Type: ${type}`)}`] : []),
    ...(body ? [`--data ${quoted(JSON.stringify(body.example, null, 2))}`] : []),
  ].join(' \\\n  ');
};

/** Keeps the token of the response to `request` in the variable that other requests read. */
export const tokenLine = (request: string): string =>
  `TOKEN=$(${request.replace('curl', 'curl --silent')} \\\n  | sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p')`;
