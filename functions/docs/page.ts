import * as contract from '../../lib/contract/docs.ts';
import { pagePolicy, renderPage } from '../../lib/docs/page.ts';
import { revalidated } from '../../lib/http/conditional.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { documentFor } from './served.ts';

/** GET and HEAD /docs */
export const handler = endpoint(contract.getDocsPage, anyone, (request) => {
  const body = renderPage(documentFor(request));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
});
