import { config } from '../../../lib/ground/settings.ts';
import type { Command, Invocation } from '../command.ts';
import { Failure, UsageError } from '../failure.ts';
import { probesOf, routesBehindTokens, userOf } from '../probes.ts';
import { type Judged, probeAll } from '../probing.ts';

export const checkDeployment: Command = {
  summary: 'send requests to the public address of a deployed service, and say whether it works',
  options: {
    '--url <address>': 'the public address; required with edge=cloudfront',
    '--json': 'print the outcome as JSON',
    '--seconds <number>':
      'how long requests are repeated while the outcome is unknown (default: 120)',
  },
  help: `Requests every route without a token and with a forged token, public routes with an empty body, and
one login of a user who does not exist; with machines=on also every route with a forged key of a machine. Each response must be the response of the contract. Nothing is
changed, but the login leaves an audit entry. With the token of an admin in ACCOUNTS_TOKEN the command
also reads what an admin may read. Without a token the last line names the routes whose handlers were
not reached, because they respond before they read anything.

If there is a fault, deploy the version before again. If the outcome is unknown, because the address
cannot be reached or requests are throttled, do not: find out why.`,
  examples: [
    'check-deployment --stack accounts-production',
    'check-deployment --stack accounts-production --url https://accounts.example.com --json',
  ],
  status: { failure: 2, help: '0 it works, 1 a fault, 2 unknown or wrong usage' },
  run,
};

async function run({ options }: Invocation): Promise<void> {
  const seconds = Number(options.seconds ?? 120);
  if (!(seconds >= 0)) throw new UsageError('--seconds must be a number.');
  const url = addressOf(options.url);
  const token = givenToken();
  const deadline = performance.now() + seconds * 1000;
  const judged = await probeAll(probesOf(config, token), { url, deadline });
  const outcome = outcomeOf(url, judged, token !== undefined);
  console.log(options.json ? JSON.stringify(outcome) : textOf(outcome));
  process.exitCode = { works: 0, fault: 1, unknown: 2 }[outcome.outcome];
}

/** @throws {UsageError} {Failure} if the address is not known */
function addressOf(given: unknown): string {
  const text = String(given ?? config.apiUrl);
  if (!given && process.env.EDGE_SECRET_ID) {
    throw new UsageError(
      '--url is required: this service responds to requests through CloudFront only.',
    );
  }
  if (!text) throw new Failure('The service is not running: start it, or give --url.');
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/+$/, '');
  throw new UsageError('--url must be an address such as https://accounts.example.com.');
}

/** @throws {UsageError} if it is not a token */
function givenToken(): string | undefined {
  const token = process.env.ACCOUNTS_TOKEN || undefined;
  if (token === undefined || userOf(token)) return token;
  throw new UsageError('ACCOUNTS_TOKEN is not a token of this service: log in as an admin.');
}

function outcomeOf(url: string, judged: readonly Judged[], hasToken: boolean) {
  const of = (verdict: Judged['verdict']) => judged.filter((each) => each.verdict === verdict);
  const [faults, unknown] = [of('fault'), of('unknown')];
  const outcome = faults.length > 0 ? 'fault' : unknown.length > 0 ? 'unknown' : 'works';
  const notReached = hasToken ? routesDenied(judged) : routesBehindTokens(config);
  return { outcome, url, requests: judged.length, faults, unknown, notReached } as const;
}

function routesDenied(judged: readonly Judged[]): readonly string[] {
  const denied = judged.filter(
    ({ verdict, found }) => verdict === 'right' && found.startsWith('403'),
  );
  return denied.map(({ title }) => title.replace(/ with .*/, ''));
}

type Outcome = ReturnType<typeof outcomeOf>;

const sentences = {
  works: 'It works.',
  fault: 'FAULT: deploy the version before again, unless this is the first one.',
  unknown: 'CANNOT TELL: do not deploy the version before; find out why.',
} as const;

function textOf({ outcome, url, requests, faults, unknown, notReached }: Outcome): string {
  const line = ({ title, found }: Judged) => `${title}: ${found}`;
  const why = 'without the token of an admin in ACCOUNTS_TOKEN, handlers respond before they read';
  return [
    ...[...faults, ...unknown].map(line),
    `${url}: ${requests} requests, ${faults.length} faults, ${unknown.length} unknown.`,
    sentences[outcome],
    ...(notReached.length > 0 ? [`Not reached (${why}): ${notReached.join(', ')}`] : []),
  ].join('\n');
}
