/** Whole seconds since 1970, as tokens and DynamoDB's time to live count. */
export const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Seconds by which the clocks of two machines may differ. */
export const clockSkew = 60;

/** Seconds. */
export const hour = 60 * 60;
export const day = 24 * hour;

/** Milliseconds. */
export const dayInMilliseconds = day * 1000;
