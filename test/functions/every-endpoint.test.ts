import { serviceForThisFile } from '../support/acceptance.ts';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';

await describeEveryEndpoint(await serviceForThisFile());
