import type { Handler } from '../../lib/http/request.ts';
import { handler as document } from './document.ts';
import { handler as page } from './page.ts';

/** The document and its page in one function, which shares what they are made from. */
export const handler: Handler = (event, context) =>
  event.rawPath === '/docs' ? page(event, context) : document(event, context);
