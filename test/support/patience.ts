/** The environment of a process of Node that waits for tables so many times as long as on AWS. */
export const patienceOf = (times: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,globalThis.patience=${times}`,
});

/** That of a service or a function that waits as long as on AWS, and no longer. */
export const asOnAws = patienceOf(1);
