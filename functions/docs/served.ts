import { config } from '../../lib/config.ts';
import { buildDocument, type OpenApiDocument } from '../../lib/contract/document.ts';
import type { ApiRequest } from '../../lib/http/request.ts';

/** The URL that the gateway was called by; it says so itself, in AWS always of HTTPS. */
const serverOf = ({ headers, requestContext: { domainName } }: ApiRequest): string =>
  `${/^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http'}://${domainName}`;

/** The document of the settings in force, for the server that was asked. */
export const documentFor = (request: ApiRequest): OpenApiDocument =>
  buildDocument(config, serverOf(request));
