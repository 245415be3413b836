import { describe, expect, it } from 'vitest';
import { corsOrigins, originsIn } from '../../infra/cors.ts';
import { valuesIn } from '../../lib/ground/setting.ts';

describe('CORS_ORIGINS', () => {
  const read = (text: string) => valuesIn({ CORS_ORIGINS: text }, { corsOrigins }).corsOrigins;

  it.each([
    ['', ['*']],
    ['*', ['*']],
    ['https://a.example', ['https://a.example']],
    ['https://a.example, http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
  ])('%j means the origins %j', (text, origins) => {
    expect(originsIn(read(text))).toEqual(origins);
  });

  it.each([
    'app.example.com',
    'localhost:3000',
    'https://app.example.com/',
    'https://*.example.com',
    '*,https://app.example.com',
    'https://a.example,https://b.example/',
    'https://a.example,',
    'ftp://a.example',
    'https:/',
    'xhttps://a.example',
    'https://a.example '.repeat(2),
  ])('is refused when it is %j', (text) => {
    expect(() => read(text)).toThrow(
      'Environment variable CORS_ORIGINS must be * or a comma-separated list of origins without a final slash, such as https://app.example.com',
    );
  });
});
