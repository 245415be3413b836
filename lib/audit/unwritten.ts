/**
 * The event under which an audit entry that could not be written is logged whole. The stack's alarm
 * looks for it, and the operator's `replay-audit` writes such entries.
 */
export const entryNotWritten = 'audit-entry-not-written';
