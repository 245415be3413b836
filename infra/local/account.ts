import { userInfo } from 'node:os';

/** Who runs this process: the name of the account on this machine, or its number without one. */
export const localAccount = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};
