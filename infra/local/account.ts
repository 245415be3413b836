import { userInfo } from 'node:os';

/** Who runs this process: the account on this machine, by its number where it has no name. */
export const accountName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
};
