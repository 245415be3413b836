import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../functions/contracts.ts';
import { inForce } from '../../../lib/contract/contract.ts';
import { collectSchemas } from '../../../lib/contract/json-schema.ts';
import { fieldFaultMeanings, httpErrors } from '../../../lib/ground/errors.ts';
import { configFrom } from '../../../lib/ground/settings.ts';
import { clientTypes } from '../../support/client-types.ts';
import { codesIn, documentFor, operationsOf, responsesOf } from '../../support/document.ts';
import { everySetting } from '../../support/every-setting.ts';
import { verificationSettings } from '../../support/verification.ts';

const settings = configFrom({});
const document = documentFor(settings, '/');

describe('The document of a service with private accounts and all optional endpoints off', () => {
  const left = { V1_USERS: 'off', DOCS: 'off', CONSOLE: 'off' };
  const text = JSON.stringify(documentFor(configFrom({ ...left, ACCOUNTS: 'private' }), '/'));

  // biome-ignore format: a table
  it.each([
    '/api/v1/users', 'MemoryUser', 'USER_NOT_REGISTERED', 'MEMORY_FULL', 'EMAIL_EXISTS',
    '"/openapi.json"', '"/docs"', '"/console"', 'Documentation', 'ETag',
  ])('does not mention %s', (word) => {
    expect(text).not.toContain(word);
    expect(JSON.stringify(document)).toContain(word);
  });
});

type Environment = Readonly<Record<string, string>>;

interface Reading {
  readonly text: string;
  readonly codes: readonly string[];
}

/** The information about each operation, by its route: its text, and the codes of its errors. */
const readingOf = (environment: Environment): ReadonlyMap<string, Reading> => {
  const read = documentFor(configFrom(environment), '/');
  return new Map(
    operationsOf(read).map((one) => {
      const codes = responsesOf(one, 'error').flatMap(([, response]) => codesIn(response));
      return [`${one.method} ${one.path}`, { text: one.description ?? '', codes }];
    }),
  );
};

const every = { ...everySetting, REGISTRATIONS_PER_ADDRESS: '1' };

const without = (lines: readonly string[], others: readonly string[]) =>
  lines.filter((line) => !others.includes(line));

/** With these settings, mailed links lead to pages of the service itself. */
const ownPages = { RESET_URL: '', VERIFY_URL: '' };

/** The changes that settings make to the document: in the texts of operations, and which codes are added or removed. */
const changesBy = (added: Environment, before: Environment = {}): string => {
  const old = readingOf(before);
  const changed = [...readingOf({ ...before, ...added })].flatMap(([route, { text, codes }]) => {
    const was = old.get(route) ?? { text: '', codes: [] };
    const lines = [
      ...without(text.split('\n'), was.text.split('\n')),
      ...without(codes, was.codes).map((code) => `+${code}`),
      ...without(was.codes, codes).map((code) => `-${code}`),
    ];
    return lines.length > 0
      ? [`${route}\n${lines.join('\n').replaceAll(/\n(?=[+-])/g, ' ')}\n`]
      : [];
  });
  return [`# ${Object.keys(added)} beside ${Object.keys(before)}\n`, ...changed].join('\n');
};

/** Status, message, and the name of a field of an error. */
const errors = Object.entries(httpErrors).map(([code, { status, message = '…', field = '' }]) =>
  `${status} ${code}: ${message} ${field}`.trim(),
);

describe('The document of a service with settings of its own', () => {
  it('describes the effects of the settings in the operations that they change, and only there', async () => {
    const { on } = verificationSettings;
    const texts = [
      changesBy({ ACCOUNTS: 'private' }, on),
      changesBy({ REGISTRATIONS_PER_ADDRESS: '1' }),
      changesBy({ SESSION_DAYS: '90' }, on),
      changesBy(ownPages, on),
      changesBy({ SECOND_FACTOR: 'optional' }, { SESSION_DAYS: '90', SELF_DELETION: 'on' }),
      changesBy(every),
      `# Errors\n\n${errors.join('\n')}\n`,
    ];

    await expect(texts.join('\n')).toMatchFileSnapshot('settings.txt');
  });

  it('says how long a token is valid', () => {
    const read = configFrom({ SESSION_DAYS: '90', TOKEN_MINUTES: '5' });
    const lifetimes = (text: string) => text.match(/valid for [^.]+\./g);

    expect(lifetimes(JSON.stringify(documentFor(read, '/')))).toEqual(
      Array(2).fill('valid for 5 minutes.'),
    );
    expect(lifetimes(JSON.stringify(document))).toEqual(Array(2).fill('valid for one day.'));
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the document is walked as the JSON that it is
type Parts = any;

/** The schema of each body of each operation, as `operationId status media-type`. */
const bodySchemas = (parts: Parts): Record<string, Parts> => {
  const operations = Object.values<Parts>(parts.paths).flatMap<Parts>(Object.values);
  const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
    [['request', requestBody], ...Object.entries<Parts>(responses)].flatMap(([name, body]) =>
      Object.entries<Parts>(body?.content ?? {}).map(([type, { schema }]) => [
        `${operationId} ${name} ${type}`,
        schema,
      ]),
    ),
  );
  return Object.fromEntries(bodies);
};

/** Every part of a document, with the key under which it is. */
const partsOf = (value: Parts, key = ''): readonly (readonly [key: string, part: Parts])[] =>
  typeof value === 'object' && value !== null
    ? [[key, value], ...Object.entries(value).flatMap(([name, part]) => partsOf(part, name))]
    : [];

describe.each([
  ['the default settings', {}],
  ['every setting on', every],
  ['pages for mailed links', { ...every, IDENTITY_PROVIDERS: '', ...ownPages }],
])('For generators of clients, the document with %s', (_, environment) => {
  const parts: Parts = JSON.parse(
    JSON.stringify(documentFor(configFrom(environment as Environment), '/')),
  );
  const { schemas } = parts.components;

  it('has a named schema for every body of a request or a response', () => {
    const reference = expect.stringMatching(/^#\/components\/schemas\/\w+$/);
    for (const [body, schema] of Object.entries(bodySchemas(parts))) {
      expect(schema, body).toEqual({ $ref: reference });
    }
  });

  it('has no two components of the same name in any letter case, so that generated types do not clash', () => {
    const { schemas: _, parameters, responses } = parts.components;
    const all = [schemas, parameters, responses].flatMap((kind) => Object.keys(kind));
    expect(new Set(all.map((name) => name.toLowerCase())).size).toBe(all.length);
  });

  it('has a named schema for every object inside a named schema', () => {
    for (const [name, schema] of Object.entries<Parts>(schemas)) {
      const within = partsOf(schema).slice(1);
      const unnamed = within.filter(([, part]) => part.type === 'object');
      expect(unnamed, name).toEqual([]);
    }
  });

  it('gives each body the same name as with the default settings', () => {
    const byDefault = bodySchemas(document);
    const named = Object.entries(bodySchemas(parts)).filter(([body]) => body in byDefault);
    expect(Object.fromEntries(named)).toEqual(byDefault);
  });

  it('has no schema called Error, because many languages have a class of this name', () => {
    expect(Object.keys(schemas)).not.toContain('Error');
  });

  it('describes ids as integers of 64 bits', () => {
    const isId = /^(id|.*_id|.*Id)$/;
    const properties = partsOf(parts).filter(([key]) => isId.test(key));
    const parameters = partsOf(parts).filter(([, { in: place, name }]) => place && isId.test(name));
    const integers = [...properties, ...parameters].flatMap(([key, part]) =>
      partsOf(part, key).filter(([, { type }]) => type === 'integer'),
    );
    expect(integers.map(([, { format }]) => format)).toEqual(integers.map(() => 'int64'));
    expect(integers.length).toBeGreaterThan(4);
  });

  it('describes a time in a query as plain text that is not empty', () => {
    const { parameters } = parts.paths['/api/admin/audit-logs'].get;
    const times = parameters.filter(({ name }: Parts) => /^(since|until)$/.test(name));
    const text = { in: 'query', schema: { type: 'string', minLength: 1 } };
    expect(times).toEqual([
      { name: 'since', ...text, description: expect.stringMatching(/a date-time .* or a date/) },
      { name: 'until', ...text, description: expect.stringContaining('before this time') },
    ]);
  });

  it.each([
    ['429', 'Throttled', 'Too Many Requests'],
    ['503', 'Unavailable', 'Service Unavailable'],
  ])('has the response %s of API Gateway for every operation', (status, name, message) => {
    const shared = { $ref: `#/components/responses/${name}` };
    for (const { operationId, responses } of operationsOf(parts)) {
      const response: Parts = responses[status];
      const own = response?.content?.['application/json'].examples;
      if (own) expect(own.GATEWAY, operationId).toEqual({ value: { message } });
      else expect(response, operationId).toEqual(shared);
    }
    const { content } = parts.components.responses[name];
    expect(content).toEqual({
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorMessage' },
        example: { message },
      },
    });
  });

  it('has the header Error-Code in every error response of a function', () => {
    const shared = ['Gateway', 'Throttled', 'Unavailable'].map(
      (name) => parts.components.responses[name],
    );
    for (const { operationId, responses } of operationsOf(parts)) {
      for (const [status, response] of Object.entries<Parts>(responses)) {
        const isOfFunction = Number(status) >= 400 && !response.$ref;
        const header = isOfFunction ? { $ref: '#/components/headers/Error-Code' } : undefined;
        expect(response.headers?.['Error-Code'], `${operationId} ${status}`).toEqual(header);
      }
    }
    expect(shared.map(({ headers }) => headers)).toEqual([undefined, undefined, undefined]);
  });
});

describe('The document of a service with every setting on', () => {
  const whole = documentFor(configFrom(every), '/');

  it.each(operationsOf(whole))(
    'says what $method $path does and who may call it, under one tag that is described',
    (one) => {
      expect(whole.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...one.tags]));
      expect(one.tags).toHaveLength(1);
      expect(one.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(one.description).toMatch(
        /^For (anyone|every user|users about themselves|admins|machines)\b/,
      );
      const described = Object.values(one.responses);
      expect(described.map(({ description }) => description)).not.toContain('');
    },
  );

  it('gives each operation a name of its own, in camel case, for the functions that generators make', () => {
    const ids = operationsOf(whole).map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)*$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(
    inForce(endpoints, configFrom(every)).map(({ contract, describe: describing }) => {
      const body = contract.body?.(configFrom(every), 'admin');
      return { route: contract.route, body, ...describing(configFrom(every)) };
    }),
  )('has examples for $route that match their schemas', ({ body, bodyExample, success }) => {
    if (body) expect(v.safeParse(body, bodyExample).issues).toBeUndefined();
    const { schema, example } = success;
    if (schema && example) expect(v.safeParse(schema, example).issues).toBeUndefined();
    expect(JSON.stringify({ bodyExample, example })).not.toContain('""');
  });

  const resolve = (part: Parts): Parts => {
    const [kind, name] = part.$ref?.split('/').slice(2) ?? [];
    return name ? (whole.components as Parts)[kind][name] : part;
  };

  const takesQuery = ({ parameters = [] }: Parts) =>
    parameters.some((parameter: Parts) => resolve(parameter).in === 'query');

  const errorExamples = operationsOf(whole).flatMap((one: Parts) =>
    Object.values<Parts>(one.responses).flatMap(({ content }) =>
      Object.entries(content?.['application/problem+json']?.examples ?? {}).map(
        ([code, problem]) => ({
          code,
          id: one.operationId,
          one,
          plain: resolve(content['application/json'].examples[code]).value,
          problem: resolve(problem).value,
        }),
      ),
    ),
  );

  const ofFields = errorExamples.filter(
    ({ code, problem }) =>
      /(?<!^IDEMPOTENCY_KEY)_REQUIRED$|^FIELD_INVALID$/.test(code) && problem.status === 400,
  );

  it.each(ofFields)(
    'names in the example $code of $id a field that the operation takes',
    ({ code, one, plain, problem: { title, errors } }) => {
      const { properties } = resolve(one.requestBody.content['application/json'].schema);
      const [field] = errors[0].detail.split(' ');

      expect(properties).toHaveProperty(field);
      expect(errors).toEqual([
        {
          pointer: `#/${field}`,
          code: expect.toBeOneOf(Object.keys(fieldFaultMeanings)),
          detail: expect.stringMatching(/^\w+ (is required|must be )/),
        },
      ]);
      if (code === 'FIELD_INVALID') expect(title).toBe(errors[0].detail);
      expect(plain).toEqual({ message: title });
    },
  );

  it.each(errorExamples.filter(({ code, one }) => code === 'PARAMETER_INVALID' && takesQuery(one)))(
    'names in the example $code of $id a parameter that the operation takes',
    ({ one, plain, problem: { title, errors } }) => {
      const names = one.parameters.map((parameter: Parts) => resolve(parameter).name);

      expect(title).toMatch(/^\w+ is invalid$/);
      expect(names).toContain(title.split(' ')[0]);
      expect(errors).toBeUndefined();
      expect(plain).toEqual({ message: title });
    },
  );
});

describe('A rule that JSON Schema cannot express', () => {
  it('makes the generation of the document fail instead of being left out', () => {
    const even = v.pipe(
      v.number(),
      v.check((value) => value % 2 === 0),
    );

    expect(() => collectSchemas().bodySchema(even)).toThrow(
      'The "check" action cannot be converted',
    );
  });
});

describe('The output of `npm run contract`', () => {
  it('has the document of the default settings in functions/openapi.json', async () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;

    await expect(text).toMatchFileSnapshot('../../../functions/openapi.json');
  });

  it('has the types of the operations that apps and the console call in functions/client/paths.ts', async () => {
    const left = { V1_USERS: 'off', DOCS: 'off', CONSOLE: 'off' };
    const under = (settings: Environment) => documentFor(configFrom({ ...settings, ...left }), '/');
    const types = clientTypes(under(every), under({}), under({ ...every, ACCOUNTS: 'private' }));

    await expect(types).toMatchFileSnapshot('../../../functions/client/paths.ts');
  });
});
