import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { factorSettings, registerWithFactor } from '../../support/second-factor.ts';

const { api, adminToken } = await serviceForThisFile(factorSettings);

it('GET /api/users/{id}/second-factor shows an admin whether a user has one', async () => {
  const user = await registerWithFactor(api);

  const answer = await api('GET', `/api/users/${user.id}/second-factor`, { token: adminToken });

  expect(answer.body).toEqual({ enabled: true, recovery_codes_left: 9 });
});
