import { describe } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';

const environment = { SESSIONS: 'revocable', CURRENT_PASSWORD: 'required' };
const service = await serviceForThisFile(environment);

describe('With revocable sessions and the current password required', () =>
  describeEveryEndpoint(service));
