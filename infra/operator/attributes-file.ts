/** Reads the declared attributes from a file, because the parameter of a deployed service holds only their hash. */
import { readFileSync } from 'node:fs';
import { parseJson } from '../../lib/ground/rules.ts';
import { attributesHash } from '../parameter.ts';
import { Failure } from './failure.ts';

/**
 * Makes lib use the list in a file.
 * @param file the name of a JSON file with the settings of the deployment, or with only the list; absent: no file was
 *   named
 * @param hash the hash in the parameter; absent: the service declares no attributes, or is on this machine
 * @throws {Failure} if the file does not have the list that was deployed
 */
export function useAttributesFile(file: unknown, hash: string | undefined): void {
  if (hash === undefined && file === undefined) return;
  if (hash === undefined) {
    throw new Failure('--attributes is only for a deployed service that declares attributes.');
  }
  if (file === undefined) {
    throw new Failure(
      'The service declares attributes of users, and checks lines by them: name the file of its settings with --attributes.',
    );
  }
  const text = listIn(String(file));
  if (attributesHash(text) !== hash) {
    throw new Failure(
      `${file} declares other attributes than the deployed service does: deploy this file first, or name the file that was deployed.`,
    );
  }
  process.env.USER_ATTRIBUTES = text;
}

/** @throws {Failure} if the file cannot be read, or is not JSON */
function listIn(file: string): string {
  const read = parseJson(readText(file));
  if (read === undefined) throw new Failure(`${file} is not JSON.`);
  const { userAttributes = read } = (read ?? {}) as { readonly userAttributes?: unknown };
  return JSON.stringify(userAttributes) ?? '';
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
