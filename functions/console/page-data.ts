/** An attribute of users, as it is declared (lib/ground/attribute.ts). */
export interface Attribute {
  readonly name: string;
  readonly type: 'text' | 'number' | 'boolean' | 'choice' | 'date';
  readonly choices?: readonly string[];
  readonly writer?: 'user' | 'admin';
}

/** The effective settings that the console needs. The page contains them as JSON. */
export interface PageData {
  readonly product: string;
  readonly sessions: boolean;
  /** Whether users can log in by identities of other issuers. */
  readonly identities: boolean;
  /** Whether other services call the service with keys of machines; absent: they do not. */
  readonly machines?: boolean;
  /** The domain of passkeys, and the origins whose pages can use them; absent: passkeys are off. */
  readonly passkeys?: { readonly rpId: string; readonly origins: readonly string[] };
  /** The attributes of users that are declared; absent: none. */
  readonly attributes?: readonly Attribute[];
  readonly secondFactor: 'off' | 'optional' | 'admins';
  readonly passwordMinLength: number;
  /** The pattern of addresses, as in the contract. */
  readonly emailPattern: string;
  /** Whether links that reset passwords are mailed. */
  readonly passwordReset: boolean;
  /** Whether addresses are verified; absent: they are not. */
  readonly verification?: boolean;
  readonly mailLanguage: string;
  /** Whether the trail is sealed; 'paused': the files that were sealed before can be read. */
  readonly auditSeal: 'on' | 'paused' | 'off';
  /** Whether there is a sealed trail to show: a service that stores nothing has none. */
  readonly sealed: boolean;
  readonly docs: 'on' | 'off';
  /** 'full': the trail has the names of deleted users. */
  readonly auditDetail: 'standard' | 'full';
  /** The path of the file that has the descriptions of settings by their names. */
  readonly meanings: string;
}

/** The data for the script of a page to which mailed links lead (web/link-form.ts). */
export interface LinkPageData {
  /** Where the token and the password are sent. */
  readonly path: string;
  /** The sentences of the page, by outcome or by error code. */
  readonly said: Readonly<Record<string, string>> & { readonly failed: string };
}
