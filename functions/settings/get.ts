import { attributesFile } from '../../lib/ground/attribute.ts';
import { providersFile } from '../../lib/ground/rules.ts';
import { parseSetting } from '../../lib/ground/setting.ts';
import { config, shownSettings } from '../../lib/ground/settings.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async () => {
  const data = Object.entries(shownSettings).map(([name, setting]) => {
    const value = config[name as keyof typeof shownSettings];
    return {
      name,
      // On AWS these lists are files beside the code of the functions that read them.
      value:
        value === providersFile || value === attributesFile
          ? 'as in the file of the deployment'
          : value,
      // `setting` has the default for one machine, where the service always seals; a deployment seals only on request.
      default: name === 'auditSeal' ? 'off' : parseSetting(setting, setting.default),
    };
  });
  return { statusCode: 200, body: { data } };
});
