/** The machines that call the service with keys (functions/README.md, Machines), as they are stored. */

/** The things that a machine may do; lib/accounts/policy.ts says what each scope allows. */
export const scopes = [
  'audit:write',
  'audit:read',
  'users:read',
  'users:write',
  'client-address',
] as const;
export type Scope = (typeof scopes)[number];

/** A key of a machine, of which only the hash is stored. */
export interface StoredKey {
  readonly hash: string;
  readonly made_at: string;
  /** When the key ends, because another one has replaced it; absent: with the machine. */
  readonly ends_at?: string;
}

export interface Machine {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** When its keys end (ISO 8601); absent: never. It is not the table's attribute `expires_at`. */
  readonly ends_at?: string;
  readonly created_at: string;
  /** The id of the admin who made it; absent: a command made it. */
  readonly made_by?: number;
  /** The newest key first; at most two. */
  readonly keys: readonly StoredKey[];
  /** Each write sets a new version. */
  readonly version: string;
}
