/**
 * The environment, typed. A setting is read when a function first needs it, so that a function
 * which never touches a table needs no table name, and once, because it cannot change.
 */

/** A setting that is missing or out of range; names the variable, never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(variable: string, rule: string) {
    super(`Environment variable ${variable} ${rule}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const required = (env: Environment, name: string): string => {
  const value = env[name];
  if (!value) throw new ConfigError(name, 'is not set');
  return value;
};

const oneOf = <T extends string>(
  env: Environment,
  name: string,
  allowed: readonly [T, ...T[]],
): T => {
  const value = env[name] || allowed[0];
  const found = allowed.find((candidate) => candidate === value);
  if (!found) throw new ConfigError(name, `must be one of ${allowed.join(', ')}`);
  return found;
};

const integer = (
  env: Environment,
  name: string,
  { minimum, maximum, otherwise }: { minimum: number; maximum: number; otherwise: number },
): number => {
  const text = env[name];
  if (!text) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum)) {
    throw new ConfigError(name, `must be a whole number from ${minimum} to ${maximum}`);
  }
  return value;
};

const limit = (env: Environment, name: string, otherwise: number): number =>
  integer(env, name, { minimum: 0, maximum: 1_000_000, otherwise });

const readers = {
  usersTable: (env: Environment) => required(env, 'USERS_TABLE'),
  auditTable: (env: Environment) => required(env, 'AUDIT_TABLE'),
  /** Whether a non-admin sees every user or only itself (decisions, Callers). */
  userDirectory: (env: Environment) => oneOf(env, 'USER_DIRECTORY', ['open', 'closed']),
  /** Characters. */
  passwordMinLength: (env: Environment) =>
    integer(env, 'PASSWORD_MIN_LENGTH', {
      minimum: 1,
      maximum: 255,
      otherwise: 1,
    }),
  /** The base-2 logarithm of bcrypt's rounds. 10 is the least that OWASP advises. */
  bcryptCost: (env: Environment) =>
    integer(env, 'BCRYPT_COST', { minimum: 4, maximum: 16, otherwise: 10 }),
  /** Whether an unknown email and a wrong password get the same answer (spec, POST /api/login). */
  loginAnswers: (env: Environment) => oneOf(env, 'LOGIN_ANSWERS', ['distinct', 'uniform']),
  /** Within 15 minutes; 0 switches the protection off. */
  loginFailuresPerAccount: (env: Environment) => limit(env, 'LOGIN_FAILURES_PER_ACCOUNT', 10),
  loginFailuresPerAddress: (env: Environment) => limit(env, 'LOGIN_FAILURES_PER_ADDRESS', 100),
  registrationsPerAddress: (env: Environment) => limit(env, 'REGISTRATIONS_PER_ADDRESS', 0),
  /** How many times as long as on AWS storage may take, where it shares a busy machine. */
  storagePatience: (env: Environment) =>
    integer(env, 'STORAGE_PATIENCE', { minimum: 1, maximum: 10, otherwise: 1 }),
};

type Readers = typeof readers;
export type Config = { readonly [K in keyof Readers]: ReturnType<Readers[K]> };

/**
 * Reads settings from an environment, each at its first use.
 * @throws {ConfigError} from the getter of a setting that is missing or out of range
 */
export const configFrom = (env: Environment): Config => {
  const values = new Map<string, unknown>();
  const read = (name: keyof Readers) => {
    if (!values.has(name)) values.set(name, readers[name](env));
    return values.get(name);
  };
  const getters = Object.keys(readers).map((name) => [
    name,
    { get: () => read(name as keyof Readers), enumerable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(getters)) as Config;
};

export const config = configFrom(process.env);
