/** The events of log lines, which alarms look for. */

/** Word of a change could not be handed to the function that mails. */
export const noticeNotHandedOver = 'mail-not-handed-over';

/** A mail could not be sent; it is tried again, or kept where those are that were not sent. */
export const mailNotSent = 'mail-not-sent';
