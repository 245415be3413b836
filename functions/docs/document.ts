import { buildDocument } from '../../lib/contract/document.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { endpoints } from '../contracts.ts';

/**
 * The document of the service under given settings.
 * @param server the URL under which the service is reached
 */
export function documentFor(settings: ServiceValues, server: string) {
  return buildDocument(endpoints, settings, server);
}
