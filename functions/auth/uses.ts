import {
  logins,
  logsInNewUsers,
  signsBySecret,
  type Uses,
  verifiesAddresses,
  when,
} from '../../infra/permissions.ts';

export const uses: Uses = {
  register: [
    'attributes',
    'passwords',
    'registrations.count',
    'users.create',
    'users.conceal',
    'audit.write',
    when(logsInNewUsers, 'keys.read', 'keys.sign', 'sessions.first', 'seen.note'),
    when((settings) => logsInNewUsers(settings) && signsBySecret(settings), 'signing-secret'),
    when(verifiesAddresses, 'mail'),
  ],
  login: ['passwords', 'login.find', ...logins, 'audit.write', when(verifiesAddresses, 'mail')],
  refresh: [
    'attributes',
    'keys.read',
    'keys.sign',
    'sessions.change',
    'seen.note',
    'audit.write',
    when(signsBySecret, 'signing-secret'),
  ],
  logout: ['sessions.change', 'audit.write'],
};
