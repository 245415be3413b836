import { describe, expect, it } from 'vitest';
import { parseCurrentPassword } from '../../../lib/auth/confirmation.ts';

describe('parseCurrentPassword', () => {
  it('returns it as it was typed', () => {
    expect(parseCurrentPassword(' p ')).toBe(' p ');
  });

  it.each([undefined, null, '', 7, ['p']])(
    'reports that it is missing in %j, and names its field',
    (given) => {
      const faults = [{ field: 'currentPassword', code: 'REQUIRED', rule: 'is required' }];

      expect(() => parseCurrentPassword(given)).toThrow(
        expect.objectContaining({ code: 'CURRENT_PASSWORD_REQUIRED', faults }),
      );
    },
  );
});
