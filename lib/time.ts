/** Whole seconds since 1970, as tokens and DynamoDB's time to live count. */
export const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Seconds by which the clocks of two machines may differ. */
export const clockSkew = 60;
