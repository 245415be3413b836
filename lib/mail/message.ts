/** What functions ask the one that mails for. No token, password or hash is in it. */

/** Which request it is for, where that came from, and when. */
interface Asked {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** A link for the account of an address, if there is one. */
export interface ResetMessage extends Asked {
  readonly kind: 'reset';
  readonly email: string;
}

/** Word to an account of what was changed of how it is entered. */
export interface NoticeMessage extends Asked {
  readonly kind: 'notice';
  /** Whose account it is. */
  readonly user_id: number;
  /** The address that the account had before. */
  readonly email: string;
  readonly changed: readonly ('email' | 'password')[];
}

export type MailMessage = ResetMessage | NoticeMessage;
