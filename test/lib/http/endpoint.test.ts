import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  it,
  type MockInstance,
  onTestFinished,
  vi,
} from 'vitest';
import { DomainError, type ErrorCode } from '../../../lib/ground/errors.ts';
import { variableOf } from '../../../lib/ground/setting.ts';
import { passedOn } from '../../../lib/ground/settings.ts';
import { issueToken } from '../../../lib/keys/token.ts';
import { gatewayEvent } from '../../support/event.ts';
import { type TestOptions, testEndpoint } from '../../support/operation.ts';

// This runs before the imports, because a middleware could store console.error as it finds it then.
vi.hoisted(() => vi.spyOn(console, 'error').mockReturnValue());

vi.stubEnv('JWT_SECRET', randomUUID());
afterAll(() => vi.unstubAllEnvs());

const tokenOf = (id: number, role: 'user' | 'admin') =>
  issueToken({ id, email: 'a@example.org', role });
const [user, admin] = [await tokenOf(1, 'user'), await tokenOf(2, 'admin')];

/** With these headers, a browser neither caches a response nor shows it as a page. */
const commonHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

const call = async (
  options: TestOptions,
  event: Parameters<typeof gatewayEvent>[0],
  handle: Parameters<typeof testEndpoint>[1] = () => ({ statusCode: 200, body: 'done' }),
) => {
  const handler = testEndpoint(options, handle);
  const { statusCode, headers, body } = await handler(gatewayEvent(event), {});
  return { statusCode, headers, body: body === undefined ? undefined : JSON.parse(body) };
};

/** The response of an endpoint whose handler throws an error. */
const failWith = (error: unknown, options: TestOptions = {}, headers = {}) =>
  call(options, { path: '/api/x', route: '/api/{x}', headers }, () => {
    throw error;
  });

const problemType = 'application/problem+json';

describe('endpoint', () => {
  it('checks token, role and body in this order before it calls its work', async () => {
    const options = { may: 'sessionsOf', body: 'json' } as const;
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const json = { 'content-type': 'application/json' };
    const pathParameters = { id: '1' };
    const steps = [
      { headers: {}, body: '{' },
      { headers: bearer('nonsense'), body: '{' },
      { headers: bearer(await tokenOf(3, 'user')), body: '{' },
      { headers: bearer(user), body: '{' },
      { headers: { ...bearer(user), ...json }, body: '{' },
      { headers: { ...bearer(user), ...json }, body: '{}' },
      { headers: { ...bearer(admin), ...json }, body: '{}' },
    ];

    const answers = await Promise.all(
      steps.map((step) => call(options, { ...step, pathParameters })),
    );

    expect(answers.map(({ body }) => body.message ?? body)).toEqual([
      'No token provided',
      'Invalid token',
      'Forbidden',
      'Content-Type must be application/json',
      'Request body is not valid JSON',
      'done',
      'done',
    ]);
  });

  it.each([
    '',
    'Bearer',
    `bearer ${user}`,
    `BEARER ${user}`,
    `Bearer${user}`,
    `Bearer\t${user}`,
    `Bearer:${user}`,
    ` Bearer ${user}`,
    `x, Bearer ${user}`,
    user,
    `Basic ${user}`,
    `Token ${user}`,
  ])('finds no token in the Authorization header "%s"', async (authorization) => {
    const { statusCode, body } = await call({ may: 'own' }, { headers: { authorization } });

    expect([statusCode, body]).toEqual([401, { message: 'No token provided' }]);
  });

  it('passes the claims, the parsed body and the parameters to its work', async () => {
    const event = {
      headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
      body: '{"name":"n"}',
      pathParameters: { id: '7' },
    };

    const { body } = await call(
      { may: 'own', body: 'json' },
      event,
      ({ claims, body, pathParameters }) => ({
        statusCode: 200,
        body: { claims, body, pathParameters },
      }),
    );

    expect(body).toEqual({
      claims: expect.objectContaining({ id: 1, role: 'user' }),
      body: { name: 'n' },
      pathParameters: { id: '7' },
    });
  });

  it.each([undefined, '01', '1 ', '2', ''])(
    'does not treat the id %j as the id of user 1',
    async (id) => {
      const headers = { authorization: `Bearer ${user}` };
      const event = { headers, ...(id === undefined ? {} : { pathParameters: { id } }) };

      expect((await call({ may: 'sessionsOf' }, event)).statusCode).toBe(403);
    },
  );

  it('renders status, headers and body, and adds the headers that every response has', async () => {
    const answer = await call({}, {}, async () => ({
      statusCode: 201,
      headers: { Link: '<x>' },
      body: { é: 1 },
    }));

    expect(answer).toEqual({
      statusCode: 201,
      headers: {
        Link: '<x>',
        ...commonHeaders,
        'Content-Type': 'application/json; charset=utf-8',
        'X-Request-Id': 'request-1',
      },
      body: { é: 1 },
    });
  });

  it('sends no Content-Type with a response that has no body', async () => {
    const answer = await call({}, {}, () => ({ statusCode: 204 }));

    expect(answer).toEqual({
      statusCode: 204,
      headers: { ...commonHeaders, 'X-Request-Id': 'request-1' },
      body: undefined,
    });
  });

  it.each([
    ['succeeds', () => ({ statusCode: 200 }), 200],
    [
      'fails',
      () => {
        throw new DomainError('STORAGE_FAULT');
      },
      500,
    ],
  ])(
    'also responds to an event that no gateway has made, when its work %s',
    async (_, handle, expected) => {
      const { statusCode, headers } = await testEndpoint({}, handle)(
        {} as APIGatewayProxyEventV2,
        {},
      );

      expect([statusCode, headers?.['X-Request-Id']]).toEqual([expected, '']);
    },
  );

  it('uses nothing of one request for the next request', async () => {
    const handler = testEndpoint({ may: 'own' }, ({ claims }) => ({
      statusCode: 200,
      body: claims.id,
    }));
    const withToken = (token: string) =>
      gatewayEvent({ headers: { authorization: `Bearer ${token}` } });

    const first = await handler(withToken(user), {});
    const refused = await handler(gatewayEvent(), {});
    const second = await handler(withToken(admin), {});

    expect([first.body, refused.statusCode, second.body]).toEqual(['1', 401, '2']);
  });
});

describe('endpoint, when its work refuses', () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  beforeEach(() => {
    logged.mockClear();
  });

  it.each<[ErrorCode, number, string]>([
    ['USER_NOT_FOUND', 404, 'User not found'],
    ['EMAIL_REGISTERED', 409, 'Email already registered'],
    ['MEMORY_FULL', 503, 'Too many users in memory'],
  ])('answers %s with %i and the message, and logs nothing', async (code, status, message) => {
    const { statusCode, headers, body } = await failWith(new DomainError(code));

    expect([statusCode, body]).toEqual([status, { message }]);
    expect(headers).toEqual({
      ...commonHeaders,
      'Content-Type': 'application/json; charset=utf-8',
      'Error-Code': code,
      'X-Request-Id': 'request-1',
    });
    expect(logged).not.toHaveBeenCalled();
  });

  it.each<[ErrorCode, string]>([
    ['NO_TOKEN', 'Bearer'],
    ['INVALID_CREDENTIALS', 'Bearer'],
    ['TOKEN_EXPIRED', 'Bearer error="invalid_token"'],
    ['TOKEN_INVALID', 'Bearer error="invalid_token"'],
  ])('sends the challenge of RFC 6750 after %s', async (code, challenge) => {
    const { headers } = await failWith(new DomainError(code));

    expect(headers?.['WWW-Authenticate']).toBe(challenge);
  });

  it.each([30, 0])('sends a Retry-After of %i s after too many attempts', async (retryAfter) => {
    const { headers } = await failWith(new DomainError('TOO_MANY_ATTEMPTS', { retryAfter }));

    expect(headers?.['Retry-After']).toBe(String(retryAfter));
  });

  it.each([
    [
      new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: 0 }),
      { title: 'Too many attempts, please try again later', status: 429, retryAfter: 0 },
    ],
    [
      new DomainError('FIELD_INVALID', {
        message: 'name must be a string',
        faults: [{ field: 'name', code: 'WRONG_TYPE', rule: 'must be a string' }],
      }),
      {
        title: 'name must be a string',
        status: 400,
        errors: [{ pointer: '#/name', code: 'WRONG_TYPE', detail: 'name must be a string' }],
      },
    ],
    [
      new DomainError('STORAGE_FAULT', { cause: new RangeError() }),
      { title: 'Internal server error', status: 500, err: 'RangeError' },
    ],
  ])('responds with problem details to clients that ask for them: %s', async (error, expected) => {
    const { statusCode, headers, body } = await failWith(error, {}, { accept: problemType });

    expect([statusCode, headers?.['Content-Type']]).toEqual([expected.status, problemType]);
    expect(headers?.['Error-Code']).toBe(error.code);
    expect(body).toEqual({ type: `/docs#${error.code}`, code: error.code, ...expected });
  });
});

describe('endpoint, when its work fails', () => {
  let logged: MockInstance<typeof console.error>;
  beforeEach(() => {
    logged = vi.spyOn(console, 'error').mockReturnValue();
  });
  afterEach(() => {
    logged.mockRestore();
  });

  it.each(passedOn)(
    'answers 500 and does not call its work if a value from the deployment is not allowed: %s',
    async (name) => {
      const variable = variableOf(name);
      vi.stubEnv(variable, 'not allowed:"');
      onTestFinished(() => void vi.stubEnv(variable, undefined));

      const { statusCode, body } = await call({}, {});

      expect([statusCode, body]).toEqual([
        500,
        { message: 'Internal server error', err: 'ConfigError' },
      ]);
      expect(logged.mock.lastCall?.[0]).toContain(`Environment variable ${variable} must be `);
    },
  );

  const throttled = Object.assign(new Error('Rate exceeded'), {
    name: 'ThrottlingException',
    $fault: 'client',
    $metadata: { requestId: 'aws-1' },
  });

  // biome-ignore format: a table
  it.each([
    ['STORAGE_FAULT', { storageFault: ['Error listing users', 'err'] }, { message: 'Error listing users', err: 'ThrottlingException' }],
    [
      'STORAGE_FAULT',
      { storageFault: ['Error registering user', 'insertErr'] },
      { message: 'Error registering user', insertErr: 'ThrottlingException' },
    ],
    ['STORAGE_FAULT', {}, { message: 'Internal server error', err: 'ThrottlingException' }],
    [
      'HASHING_FAULT',
      { storageFault: ['Error registering user', 'insertErr'] },
      { message: 'Error hashing password', hashErr: 'ThrottlingException' },
    ],
    ['TOKEN_FAULT', {}, { message: 'No token provided, please try again', err: 'ThrottlingException' }],
  ] as const)('answers 500 to %s, given the options %j, with the body %j', async (code, options, expected) => {
    const { statusCode, headers, body } = await failWith(
      new DomainError(code, { cause: throttled }),
      options,
    );

    expect([statusCode, headers?.['Error-Code'], body]).toEqual([500, code, expected]);
  });

  it.each([
    ['an error', new TypeError('hunter2 is not a function'), 'TypeError'],
    ['a text', 'hunter2', 'UnknownError'],
    [
      'an HTTP error of somebody else',
      Object.assign(new Error('hunter2'), { statusCode: 418, expose: true }),
      'Error',
    ],
  ])('answers 500 to an unexpected fault without its text: %s', async (_, error, name) => {
    const { statusCode, headers, body } = await failWith(error);

    expect([statusCode, body]).toEqual([500, { message: 'Internal server error', err: name }]);
    expect(headers?.['Error-Code']).toBe('UNEXPECTED_FAULT');
    expect(logged.mock.calls.flat().join()).not.toContain('hunter2');
  });

  it('logs one line with the request, the fault and the stack', async () => {
    await failWith(new DomainError('STORAGE_FAULT', { cause: throttled }));

    expect(logged).toHaveBeenCalledOnce();
    expect(JSON.parse(logged.mock.calls[0]?.[0])).toEqual({
      level: 'error',
      event: 'fault',
      code: 'STORAGE_FAULT',
      route: 'POST /api/{x}',
      requestId: 'request-1',
      fault: 'ThrottlingException',
      message: 'Rate exceeded',
      awsRequestId: 'aws-1',
      stack: expect.arrayContaining([expect.stringMatching(/^at .*endpoint\.test\.ts/)]),
    });
  });
});
