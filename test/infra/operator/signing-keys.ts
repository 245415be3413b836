/** The keys of a service, on this machine or on AWS, as rotate-signing-key finds and leaves them. */
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startKms } from '../../support/kms.ts';
import {
  type OperatedService,
  operate,
  operatedServiceForThisTest,
} from '../../support/operator.ts';
import { arn, awsForThisTest } from './aws.ts';

/** The command does not rely on these times: tokens of the previous key may have been valid for a day. */
const settings = { TOKEN_SIGNING: 'RS256', TOKEN_MINUTES: '5', SESSION_DAYS: '1' };

/** The prefix of the names of the stages at AWS. */
export const alias = 'alias/accounts/token-signing-';

/** Keys in files. */
export const localKeys = async () => {
  const { folder, operate: run, entries } = await operatedServiceForThisTest(settings);
  return {
    rotate: rotateBy(run),
    entries,
    /** The fields by which entries name the operator: none on this machine. */
    operator: {},
    /** Makes it look as if the key has been in its stage for so many minutes. */
    age: (stage: string, minutes: number): void => {
      const since = Date.now() / 1000 - minutes * 60;
      utimesSync(join(folder, `token-key-${stage}`), since, since);
    },
    /** The stages that have a key. */
    stages: (): string[] => {
      const files = readdirSync(folder).filter((name) => name.startsWith('token-key-'));
      const modes = files.map((name) => statSync(join(folder, name)).mode & 0o77);
      expect(modes, 'what others may do with the files').toEqual(files.map(() => 0));
      return files
        .map((name) => name.slice('token-key-'.length))
        .filter(isNotFirst)
        .sort();
    },
  };
};

/** Keys of KMS. @param tables a service whose tables are used; its own tokens are signed by a secret */
export const stackKeys = async (tables: OperatedService) => {
  const before = (await tables.entries()).length;
  const kms = await startKms();
  onTestFinished(kms.stop);
  const first = kms.makeKey();
  const keys = { TOKEN_KEYS: alias, TOKEN_SIGNING_KEY: first };
  const aws = await awsForThisTest(tables, { Settings: { ...settings, ...keys } });
  const environment = { ...aws.environment, ...kms.environment };
  return {
    kms,
    rotate: rotateBy((args) => operate([...args, '--stack=accounts'], { environment })),
    entries: async () => (await tables.entries()).slice(before),
    operator: { operator: arn },
    age: (stage: string, minutes: number): void => {
      const since = Date.now() - minutes * 60_000;
      kms.place(alias + stage, kms.aliases.get(alias + stage)?.key, since);
    },
    stages: (): string[] => {
      // The stack made the first key, which stays; a key that the command made is deleted with its last alias.
      const used = [...kms.aliases.values()].map(({ key }) => key);
      expect(kms.keys.size).toBe(new Set([first.replace(/.*\//, ''), ...used]).size);
      return [...kms.aliases.keys()].map((name) => name.slice(alias.length)).sort();
    },
  };
};

/** Runs the command with some options. @returns its status and what it printed */
const rotateBy =
  (run: (args: readonly string[]) => ReturnType<typeof operate>) =>
  async (...options: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(['rotate-signing-key', ...options]);
    return `${status} ${stdout}${stderr}`;
  };

const isNotFirst = (stage: string) => stage !== 'first';
