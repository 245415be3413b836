import { describe } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';
import { everySetting } from '../support/every-setting.ts';

const service = await serviceForThisFile(everySetting);

describe('With each setting that adds endpoints', () => describeEveryEndpoint(service));
