import type { Command } from './command.ts';
import { createAdmin } from './commands/create-admin.ts';
import { demote } from './commands/demote.ts';
import { exportAudit } from './commands/export-audit.ts';
import { exportUsers } from './commands/export-users.ts';
import { importUsers } from './commands/import-users.ts';
import { listAdmins } from './commands/list-admins.ts';
import { promote } from './commands/promote.ts';
import { removeSecondFactor } from './commands/remove-second-factor.ts';
import { replayAudit } from './commands/replay-audit.ts';
import { resetPassword } from './commands/reset-password.ts';
import { revoke, revokeAll } from './commands/revoke.ts';
import { rotateSecret } from './commands/rotate-secret.ts';
import { verifyAudit } from './commands/verify-audit.ts';
import { verifyEmail } from './commands/verify-email.ts';

/** In the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  'create-admin': createAdmin,
  promote,
  demote,
  'list-admins': listAdmins,
  revoke,
  'revoke-all': revokeAll,
  'remove-second-factor': removeSecondFactor,
  'reset-password': resetPassword,
  'verify-email': verifyEmail,
  'rotate-secret': rotateSecret,
  'import-users': importUsers,
  'export-users': exportUsers,
  'replay-audit': replayAudit,
  'export-audit': exportAudit,
  'verify-audit': verifyAudit,
};
