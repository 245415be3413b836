import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeEntry } from '../../lib/audit/entry.ts';
import { indexKeys } from '../../lib/audit/index-keys.ts';
import { auditTable } from '../../lib/dynamodb/tables.ts';
import { everything, production, resourcesOf, synthesise } from './stack/template.ts';

type Settings = Readonly<Record<string, unknown>>;

/**
 * The deployments of the columns of infra/cost.md, with the most resources that each may have and the
 * most dollars that these may cost a month. Whoever adds a feature raises what it needs, by hand.
 */
const deployments: readonly (readonly [
  string,
  Settings,
  { resources: number; dollars: number },
])[] = [
  ['development', {}, { resources: 115, dollars: 2.7 }],
  ['production', production, { resources: 217, dollars: 11.7 }],
  ['production, all on', everything, { resources: 333, dollars: 15 }],
];

const propertiesOf = (settings: Settings, type: string) =>
  [...resourcesOf(synthesise(settings), type).values()].map(({ Properties }) => Properties);

/** The metrics that an alarm reads: an expression itself is none. */
const metricsRead = ({ Metrics }: { readonly Metrics?: readonly { MetricStat?: object }[] }) =>
  Metrics ? Metrics.filter(({ MetricStat }) => MetricStat).length : 1;

/** The rows of infra/cost.md about resources: their price, and how many a deployment has. */
const rows: readonly (readonly [string, number, (settings: Settings) => number])[] = [
  [
    'Alarms',
    0.1,
    (settings) =>
      propertiesOf(settings, 'AWS::CloudWatch::Alarm').reduce(
        (sum, one) => sum + metricsRead(one),
        0,
      ),
  ],
  [
    'Custom metrics',
    0.3,
    (settings) =>
      new Set(
        propertiesOf(settings, 'AWS::Logs::MetricFilter').map(
          ({ MetricTransformations: [{ MetricName }] }) => MetricName,
        ),
      ).size,
  ],
  ['Keys', 1, (settings) => propertiesOf(settings, 'AWS::KMS::Key').length],
  ['Secrets', 0.4, (settings) => propertiesOf(settings, 'AWS::SecretsManager::Secret').length],
  ['Dashboard', 3, (settings) => propertiesOf(settings, 'AWS::CloudWatch::Dashboard').length],
];

/** Rounds to cents, which sums of binary fractions miss. */
const cents = (dollars: number): number => Math.round(100 * dollars) / 100;

const totalOf = (settings: Settings) =>
  cents(rows.reduce((sum, [, price, count]) => sum + price * count(settings), 0));

const cost = readFileSync('infra/cost.md', 'utf8');

/** The dollars in the cells of a row of a table, but for the first one, its name. */
const numbersIn = (line: string): readonly number[] =>
  line
    .split(' | ')
    .slice(1)
    .map((cell) => Number(cell.replaceAll(/[* |,]/g, '')));

/** The same, of the row whose first cell begins with a text. */
const row = (begin: string): readonly number[] => {
  const lines = cost.split('\n');
  return numbersIn(lines.find((one) => one.replaceAll('*', '').startsWith(`| ${begin}`)) ?? '');
};

describe('A deployment', () => {
  it.each(deployments)(
    'of %s has no more resources and costs no more than it may',
    (_, settings, most) => {
      const resources = Object.keys(synthesise(settings).toJSON().Resources).length;

      expect(resources).toBeLessThanOrEqual(most.resources);
      expect(totalOf(settings)).toBeLessThanOrEqual(most.dollars);
    },
  );
});

describe('The readme of the package', () => {
  it('says how many of the resources of a stack a service has at most', () => {
    const readme = readFileSync('infra/package/README.md', 'utf8');
    const said = /at most (\d+) by default, (\d+) in stage\s`production` and (\d+) with every/;

    expect(said.exec(readme)?.slice(1).map(Number)).toEqual(
      deployments.map(([, , most]) => most.resources),
    );
  });
});

describe('infra/cost.md', () => {
  it.each(rows)('has the prices of the resources in the template: %s', (begin, price, count) => {
    expect(row(begin)).toEqual(deployments.map(([, settings]) => cents(price * count(settings))));
  });

  it('has the price of an entry of another service in the table and in each of its indexes', () => {
    const named = { resource: 'shop.orders', resource_id: 'A-7', user_id: 5 };
    const keys = indexKeys(makeEntry({ ...named, action: 'CREATE', result: 'SUCCESS' }));
    const copies = 1 + auditTable.indexes.filter(({ partitionKey: { name } }) => keys[name]).length;

    const million = [1, 3].map((kilobytes) => copies * kilobytes);
    expect(row('Writes of entries')).toEqual(million.map((units) => cents(0.625 * units)));
    expect(row('Storage for a month')).toEqual(million.map((gigabytes) => cents(0.45 * gigabytes)));
  });

  it('says how many entries of other services the throttle of their route allows', () => {
    const [{ RouteSettings }] = propertiesOf(everything, 'AWS::ApiGatewayV2::Stage');
    const { ThrottlingRateLimit: rate } = RouteSettings['POST /api/admin/audit-logs'];

    const said = / allows ([\d,]+)\s+entries a second \((\d+) requests\)/.exec(cost)?.slice(1);
    expect(said?.map(Number)).toEqual([25 * rate, rate]);
  });

  it('has totals that equal the sums of their rows', () => {
    const requests =
      cost.slice(0, cost.indexOf('Other costs')).match(/^\| (?!Per|Requests|---).*/gm) ?? [];
    const sums = [1, 2, 3].map((column) =>
      requests
        .filter((line) => !line.includes('**'))
        .reduce((sum, line) => sum + (numbersIn(line)[column - 1] ?? 0), 0),
    );

    expect(requests.length).toBeGreaterThan(9);
    expect(row('Total for the requests')).toEqual(sums.map(cents));
    expect(row('Total for any number')).toEqual(deployments.map(([, each]) => totalOf(each)));
  });

  it('names the same lowest prices of a development and a production deployment as README.md', () => {
    const first = (begin: string) => row(begin)[0] ?? 0;
    const requests = first('Total for the requests');
    const [development = 0, inProduction = 0] = row('Total for any number');

    const least = [
      development + requests - first('Seal') - first('Sessions'),
      inProduction + requests,
    ].map(Math.round);

    const said = /about (\d+)\s+dollars a month.*?in development and (\d+) in production/s;
    for (const text of [cost, readFileSync('README.md', 'utf8')]) {
      expect(said.exec(text)?.slice(1).map(Number)).toEqual(least);
    }
  });

  it('has the prices of README.md for no users and for 10 million users', () => {
    const readme = readFileSync('README.md', 'utf8');
    const [development = 0, inProduction = 0] = row('Total for any number');
    const [seal = 0] = row('Seal');
    const most = inProduction + (row('Total for the requests')[2] ?? 0);

    const idle = /\| \$(\d+), production \$(\d+) \|/.exec(readme)?.slice(1).map(Number);
    const [, ofMost = ''] = /10 million about ([\d,]+)/.exec(readme) ?? [];

    expect(idle).toEqual([development, inProduction + seal].map(Math.round));
    expect(Number(ofMost.replace(',', ''))).toBe(Math.round(most / 100) * 100);
  });

  it('compares the prices of its tables with Cognito, as README.md does', () => {
    const [, inProduction = 0] = row('Total for any number');
    const [least = 0, most = 0] = row('Total for the requests');
    const [traces = 0, tracesOfMost = 0] = row('Traces');
    const others = ['Reads', 'Seal'].map((begin) => row(begin).slice(0, 2));
    const proportional = others.reduce((left, [, cost = 0]) => left - cost, most - tracesOfMost);
    const dearer = others.reduce((sum, costs) => sum + Math.max(...costs), 0);
    const prices = (users: number, requests: number) => [
      Math.round(inProduction + requests),
      ...[0.0055, 0.015].map((price) => cents(Math.max(0, users - 10_000) * price)),
    ];

    const few = prices(10_000, proportional / 10 + 10 * traces + dearer);
    const many = prices(100_000, most);

    expect(['1,000', '10,000', '100,000'].map((users) => row(`${users} |`))).toEqual([
      prices(1_000, least),
      few,
      many,
    ]);
    const said =
      /with\s10,000 about (\d+),.* 100,000 about (\d+),.* costs ([\d,]+) \(E\w+\) or ([\d,]+)\s\(L/;
    const numbers = said.exec(readFileSync('README.md', 'utf8'))?.slice(1) ?? [];
    expect(numbers.map((one) => Number(one.replace(',', '')))).toEqual([
      few[0],
      many[0],
      many[2],
      many[1],
    ]);
  });

  it('has the same prices of sessions and refreshes in its table and its text', () => {
    const [ofSessions = [], ofRefreshes = []] = [
      /at most\s+(\$.*?) a month/,
      /user adds (\$.*?) a month/s,
    ].map((said) =>
      (said.exec(cost)?.[1]?.match(/[\d.,]*\d/g) ?? []).map((one) => Number(one.replace(',', ''))),
    );

    expect(row('Sessions')).toEqual(ofSessions.map((one, i) => cents(one + (ofRefreshes[i] ?? 0))));
  });
});
