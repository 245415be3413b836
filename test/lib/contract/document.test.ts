import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/config.ts';
import { buildDocument } from '../../../lib/contract/document.ts';

describe('functions/openapi.json', () => {
  it('is the document of the default settings; `npm run contract` writes it', async () => {
    const document = JSON.stringify(buildDocument(configFrom({}), '/'), null, 2);

    await expect(`${document}\n`).toMatchFileSnapshot('../../../functions/openapi.json');
  });
});
