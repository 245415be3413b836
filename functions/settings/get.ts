import {
  config,
  parseSetting,
  providersFile,
  serviceNames,
  settings,
} from '../../lib/ground/settings.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

/** The settings of the audit trail's seal and retention, which are not among the settings of the service. */
const kept = ['auditSeal', 'auditRetentionDays', 'auditArchiveDays', 'auditLockDays'] as const;

export const handler = protectedEndpoint(contract.get, async () => {
  const data = [...serviceNames, ...kept].map((name) => {
    const value = config[name];
    return {
      name,
      // On AWS the list of issuers is a file, beside the code of the functions that read it.
      value: value === providersFile ? 'as in the file of the deployment' : value,
      // The setting itself has the default of one machine, which always seals; a deployment seals if told to.
      default: name === 'auditSeal' ? 'off' : parseSetting(settings[name], settings[name].default),
    };
  });
  return { statusCode: 200, body: { data } };
});
