/** What an audit entry can say was done. */
export const actions = ['CREATE', 'READ', 'UPDATE', 'DELETE', 'LOGIN', 'LOGOUT', 'EXPORT'] as const;
export type Action = (typeof actions)[number];

/** What an entry says of a request for a password reset, whose link was mailed or printed. */
export const resetRequested = { fields: [], by: 'reset', requested: true } as const;

export const results = ['SUCCESS', 'FAILURE'] as const;
