import { describe, expect, it, onTestFinished } from 'vitest';
import { type EngineName, installedEngines, startEngine } from '../../infra/local/engine.ts';
import { startLoopback } from '../support/loopback.ts';
import { browserForThisFile } from './browser.ts';
import { openPage } from './page.ts';

const browser = await browserForThisFile();

/** A request to an engine, which accepts requests from anybody who knows its address. */
const request = (action: string, body: object) => ({
  method: 'POST',
  headers: {
    authorization:
      'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': '20260101T000000Z',
    'x-amz-target': `DynamoDB_20120810.${action}`,
  },
  body: JSON.stringify(body),
});

const creation = request('CreateTable', {
  TableName: 'made-by-a-page',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
});

const start = async (only: EngineName): Promise<string> => {
  const { endpoint, stop } = await startEngine({ only });
  onTestFinished(stop);
  return endpoint;
};

/** A page whose origin differs from the engine's. */
const openElsewhere = async () => {
  const { url, stop } = await startLoopback((_, __, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
  );
  onTestFinished(stop);
  return (await openPage(browser, url)).page;
};

/** Only on Linux can dynoxide listen at a loopback address that pages do not know. */
const engines = installedEngines().filter(
  (name) => name !== 'dynoxide' || process.platform === 'linux',
);

describe('A page in a browser', () => {
  it.each(engines)(
    'neither reads nor writes the tables of %s, though it knows the port',
    async (only) => {
      const endpoint = await start(only);
      const page = await openElsewhere();
      const { port } = new URL(endpoint);

      const seen = await page.evaluate(
        ({ urls, init }) =>
          Promise.all(
            urls.map((url) => fetch(url, init).then((response) => response.text(), String)),
          ),
        {
          urls: ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:${port}`),
          init: creation,
        },
      );

      expect(new Set(seen)).toEqual(new Set(['TypeError: Failed to fetch']));
      const tables = await fetch(endpoint, request('ListTables', {}));
      expect(await tables.json()).toEqual({ TableNames: [] });
    },
  );
});
