/** The environment of a Node process that waits for tables this many times as long as on AWS. */
export const patienceOf = (times: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,globalThis.patience=${times}`,
});

/** The environment of a service or a function that waits exactly as long as on AWS. */
export const asOnAws = patienceOf(1);
