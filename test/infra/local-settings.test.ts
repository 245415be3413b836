import { describe, expect, it } from 'vitest';
import { faultsIn } from '../../infra/local-settings.ts';
import { serviceSettings } from '../../lib/ground/settings.ts';

describe('The settings of a whole service', () => {
  const [MAIL_FROM, RESET_URL] = ['accounts@example.com', 'https://app.example.com/reset'];
  const IDENTITY_PROVIDERS = '[{"issuer":"https://a.example","audiences":["app"]}]';

  it.each([
    [{}, []],
    [{ MAIL_FROM, RESET_URL }, []],
    [{ SESSION_DAYS: '0', EMAIL_VERIFICATION: '' }, []],
    [{ MAIL_FROM }, []],
    [{ MAIL_FROM, EMAIL_VERIFICATION: 'required', RETURN_URL: 'my-app://login' }, []],
    [{ RESET_URL }, ['RESET_URL requires MAIL_FROM']],
    [{ VERIFY_URL: RESET_URL }, ['VERIFY_URL requires MAIL_FROM']],
    [{ RETURN_URL: RESET_URL }, ['RETURN_URL requires MAIL_FROM']],
    [{ SESSION_DAYS: '90' }, []],
    [{ SELF_DELETION: 'on' }, ['SELF_DELETION requires that SESSION_DAYS is not 0']],
    [{ TOKEN_MINUTES: '60' }, ['TOKEN_MINUTES requires that SESSION_DAYS is not 0']],
    [{ TOKEN_AUDIENCE: 'shop' }, ['TOKEN_AUDIENCE requires that TOKEN_SIGNING is not HS256']],
    [
      { TOKEN_ISSUER: 'https://a.example/', TOKEN_SIGNING: 'RS256', TOKEN_AUDIENCE: 'a b' },
      [
        'TOKEN_ISSUER must be an https URL without query, fragment and final slash, or an http one of localhost',
        'TOKEN_AUDIENCE must be text without spaces',
      ],
    ],
    [{ EMAIL_VERIFICATION: 'on' }, ['EMAIL_VERIFICATION requires MAIL_FROM']],
    // Who logs in by an identity confirms in the app, and not on the service's own page.
    [
      { IDENTITY_PROVIDERS, SESSION_DAYS: '90', MAIL_FROM, EMAIL_VERIFICATION: 'on' },
      ['EMAIL_VERIFICATION requires VERIFY_URL'],
    ],
    [
      { IDENTITY_PROVIDERS, SESSION_DAYS: '90', EMAIL_VERIFICATION: 'on' },
      [
        'EMAIL_VERIFICATION requires MAIL_FROM and VERIFY_URL',
        'IDENTITY_PROVIDERS requires MAIL_FROM',
      ],
    ],
    [
      { IDENTITY_PROVIDERS, RESET_URL },
      [
        'RESET_URL requires MAIL_FROM',
        'IDENTITY_PROVIDERS requires that SESSION_DAYS is not 0 and MAIL_FROM',
      ],
    ],
    // Values come first.
    [
      { MAIL_FROM, EMAIL_VERIFICATION: 'true', DOCS: 'no' },
      ['EMAIL_VERIFICATION must be one of off, on, required', 'DOCS must be one of on, off'],
    ],
  ])('are refused with all their faults: %o', (env, faults) => {
    expect(faultsIn(env, serviceSettings)).toEqual(
      faults.map((fault) => `Environment variable ${fault}`),
    );
  });

  it('are refused with the name of the attribute that breaks a rule, and with the rule', () => {
    const USER_ATTRIBUTES = '[{"name":"plan","type":"text"},{"name":"locale","type":"enum"}]';

    expect(faultsIn({ USER_ATTRIBUTES }, serviceSettings)).toEqual([
      'Environment variable USER_ATTRIBUTES must be a JSON list of attributes as in functions/README.md; attribute 2 (locale): type must be one of text, number, boolean, choice, date',
    ]);
  });

  it('are refused with the place where a list stops being JSON', () => {
    const [fault] = faultsIn({ IDENTITY_PROVIDERS: '[{"issuer": ""]' }, serviceSettings);

    expect(fault).toMatch(/, organizations or consumers; it is not JSON: line 1, column 15$/);
  });
});
