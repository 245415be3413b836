import { describeEveryEndpoint } from '../support/every-endpoint.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';

await describeEveryEndpoint(await proxiedServiceForThisFile());
