/** What an audit entry can say was done. */
export const actions = ['CREATE', 'READ', 'UPDATE', 'DELETE', 'LOGIN', 'LOGOUT', 'EXPORT'] as const;
export type Action = (typeof actions)[number];

export const results = ['SUCCESS', 'FAILURE'] as const;
