import { describe, expect, it, vi } from 'vitest';
import { DomainError } from '../../../lib/ground/errors.ts';
import { describeFault, logError, printable } from '../../../lib/ground/log.ts';
import { ConfigError } from '../../../lib/ground/setting.ts';

describe('logError', () => {
  it('writes one line of JSON, whatever is in the fields', () => {
    const written = vi.spyOn(console, 'error').mockReturnValue();

    logError('something', { text: 'a\nb', entry: { id: 1 } });

    const [[line]] = written.mock.calls as [[string]];
    written.mockRestore();
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      level: 'error',
      event: 'something',
      text: 'a\nb',
      entry: { id: 1 },
    });
  });
});

describe('describeFault', () => {
  const frames = expect.arrayContaining([expect.stringMatching(/^at .*log\.test\.ts/)]);

  it('quotes an AWS service and its request id', () => {
    const cause = Object.assign(new Error('Rate exceeded'), {
      name: 'ThrottlingException',
      $fault: 'client',
      $metadata: { requestId: 'aws-1' },
    });

    expect(describeFault(new DomainError('STORAGE_FAULT', { cause }))).toEqual({
      fault: 'ThrottlingException',
      message: 'Rate exceeded',
      awsRequestId: 'aws-1',
      stack: frames,
    });
  });

  it('does not quote the message of the SDK about a response that the SDK could not parse', () => {
    const cause = Object.assign(new SyntaxError('Unexpected token in "hunter2"'), {
      $metadata: { requestId: 'aws-1' },
    });

    const described = describeFault(new DomainError('STORAGE_FAULT', { cause }));

    expect(described).toEqual({ fault: 'SyntaxError', awsRequestId: 'aws-1', stack: frames });
  });

  it('quotes this service’s message about a setting', () => {
    expect(describeFault(new ConfigError('BCRYPT_COST', 'is odd'))).toEqual({
      fault: 'ConfigError',
      message: 'Environment variable BCRYPT_COST is odd',
      stack: frames,
    });
  });

  it('does not quote any other error, because its message may repeat a request', () => {
    const described = describeFault(new SyntaxError('Unexpected token in {"password":"hunter2"'));

    expect(described).toEqual({ fault: 'SyntaxError', stack: frames });
    expect(JSON.stringify(described)).not.toContain('hunter2');
  });

  it('does not quote a message of several lines as a part of the stack either', () => {
    const described = describeFault(new Error('first line\nhunter2 on the second'));

    expect(JSON.stringify(described)).not.toMatch(/first line|hunter2/);
  });

  it.each(['hunter2', undefined, null, { message: 'hunter2' }])(
    'reports %j as unknown, because it is not an error',
    (thrown) => {
      expect(describeFault(thrown)).toEqual({ fault: 'UnknownError' });
    },
  );
});

describe('printable', () => {
  it('replaces each character that a terminal would obey or hide', () => {
    expect(printable('Ada\u001b[2J \u202eé\n')).toBe('Ada\ufffd[2J \ufffdé\ufffd');
  });
});
