import { describe } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';
import { mailSettings } from '../support/mailbox.ts';

const environment = { SESSIONS: 'revocable', CURRENT_PASSWORD: 'required', ...mailSettings };
const service = await serviceForThisFile(environment);

describe('With revocable sessions, the current password required and mails', () =>
  describeEveryEndpoint(service));
