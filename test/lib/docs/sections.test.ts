/** The parts of the page, of a document that has one of each thing which they show. */
import { describe, expect, it } from 'vitest';
import { contents, groupsOf, methodName } from '../../../lib/docs/contents.ts';
import { errorDetails, errorsSection } from '../../../lib/docs/errors.ts';
import { headerLinks, headersSection } from '../../../lib/docs/headers.ts';
import { textOf } from '../../../lib/docs/html.ts';
import { operationSection } from '../../../lib/docs/operation.ts';
import { document, lines, operation } from './small-document.ts';

describe('The section of an operation', () => {
  it('has its route, its text, what goes in, an example, what comes out, and its errors', () => {
    expect(lines(operationSection(document, operation('pack')))).toEqual([
      '[Pack a box](#pack)',
      'PUT /boxes/{id}',
      'For *packers*.',
      'Parameters',
      'Parameter | Type and rules',
      ...['id path, required', 'integer', 'soon query', 'string'],
      'Request body',
      'application/json: [Box](#schema-Box)',
      'Field | Type and rules',
      ...['size required', 'integer, at least 1'],
      'Example',
      `curl 'https://api.example.org/boxes/7' \\`,
      '--request PUT \\',
      '--header "Authorization: Bearer $TOKEN" \\',
      `--header 'Content-Type: application/json' \\`,
      ...[`--data '{`, '"size": 2', `}'`],
      'Response 200',
      'It is packed. Headers: [X-Request-Id](#header-X-Request-Id), [Link](#header-Link).',
      'application/json: object',
      ...['Field | Type and rules', 'left', 'integer'],
      ...['{', '"left": 0', '}'],
      'text/csv: string',
      ...['Response 304', 'It was.'],
      ...lines(errorDetails(document, operation('pack'))),
    ]);
  });

  it('has no heading and no box of what is not there', () => {
    expect(textOf(operationSection(document, operation('pack')))).not.toContain('<code></code>');
    expect(lines(operationSection(document, operation('look')))).toEqual([
      ...['[Look](#look)', 'HEAD /', 'Example'],
      ...[`curl 'https://api.example.org/' \\`, '--head'],
      ...['Response 204', 'There.', 'Errors of look:', 'Code | Message'],
    ]);
  });
});

describe('The errors of an operation', () => {
  it('are listed by status, with the headers that its success does not have', () => {
    expect(lines(errorDetails(document, operation('pack')))).toEqual([
      'Errors of pack: 400, 429',
      'Code | Message',
      '400 It does not *fit*.',
      ...['[TOO_BIG](#TOO_BIG) | Too big', '[TORN](#TORN) | Torn'],
      '429 Wait. Headers: [Retry-After](#header-Retry-After).',
      '[TOO_MANY](#TOO_MANY) | Too many',
    ]);
  });

  it('have codes that a narrow window may break after an underscore', () => {
    expect(textOf(errorDetails(document, operation('pack')))).toContain(
      '<a href="#TOO_BIG"><code>TOO_<wbr>BIG</code></a>',
    );
  });
});

it('The section of errors shows both forms of one, and the status and meaning of each code', () => {
  expect(lines(errorsSection(document))).toEqual([
    '[Errors](#errors)',
    'An error as it is by default:',
    ...['{', '"message": "size must be a number"', '}'],
    'The same for a request with Accept: application/problem+json:',
    ...['{', '"title": "size must be a number",', '"status": 400,', '"code": "FIELD_INVALID"', '}'],
    'Code | Status | Meaning',
    '[TOO_BIG](#TOO_BIG) | 400 | Buy XL.',
    '[TORN](#TORN) | 400 | By - us.',
    '[Without a code](#gateway)',
    'What the gateway says.',
  ]);
});

describe('The section of headers', () => {
  it('says of each what it is', () => {
    expect(lines(headersSection(document))).toEqual([
      '[Response headers](#headers)',
      'Header | Meaning',
      ...['X-Request-Id | string', 'Leads to a log.', 'Link | string'],
    ]);
  });

  it('has no link from where there are no headers', () => {
    expect(headerLinks([])).toBeUndefined();
  });
});

describe('The table of contents', () => {
  it('leads to every operation, under its group, and to the other sections', () => {
    expect(lines(contents(groupsOf(document)))).toEqual([
      '[Get started](#start)',
      '[Boxes, and more](#tag-boxes-and-more)',
      '[Pack a box PUT](#pack)',
      '[Bare](#tag-bare)',
      '[Look HEAD](#look)',
      ...['[Errors](#errors)', '[Response headers](#headers)', '[Schemas](#schemas)'],
    ]);
  });

  it('shows a method in its colour', () => {
    expect(textOf(methodName('PUT'))).toBe('<span class="method put">PUT</span>');
  });
});
