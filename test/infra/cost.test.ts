import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { everything, resourcesOf, synthesise } from './stack/template.ts';

const cost = readFileSync('infra/cost.md', 'utf8');

/** The deployments of the table's columns. */
const deployments = [{}, { stage: 'production' }, everything];

type Context = Readonly<Record<string, unknown>>;

const propertiesOf = (type: string) => (context: Context) =>
  [...resourcesOf(synthesise(context), type).values()].map(({ Properties }) => Properties);

interface Alarm {
  readonly Metrics?: readonly { readonly MetricStat?: object }[];
}

/** The metrics that an alarm reads: an expression itself is none. */
const metricsRead = ({ Metrics }: Alarm): number =>
  Metrics ? Metrics.filter(({ MetricStat }) => MetricStat).length : 1;

const names = (filters: readonly { MetricTransformations: [{ MetricName: string }] }[]) =>
  new Set(filters.map(({ MetricTransformations: [{ MetricName }] }) => MetricName));

/** What a deployment has of each, as the template says. */
const counts = {
  metricsOfAlarms: (context: Context) =>
    propertiesOf('AWS::CloudWatch::Alarm')(context).reduce((sum, one) => sum + metricsRead(one), 0),
  customMetrics: (context: Context) =>
    names(propertiesOf('AWS::Logs::MetricFilter')(context) as never).size,
  keys: (context: Context) => propertiesOf('AWS::KMS::Key')(context).length,
  dashboards: (context: Context) => propertiesOf('AWS::CloudWatch::Dashboard')(context).length,
};

/** The dollars in the cells of a row, whose first cell begins with a text. */
const row = (begin: string): readonly number[] => {
  const line =
    cost.split('\n').find((one) => one.replaceAll('*', '').startsWith(`| ${begin}`)) ?? '';
  const cells = line.replaceAll('*', '').split(' | ').slice(1);
  return cells.map((cell) => Number(cell.replaceAll(/[ |,]/g, '')));
};

/** Rounds to cents, which sums of binary fractions miss. */
const cents = (dollars: number): number => Math.round(100 * dollars) / 100;

describe('infra/cost.md', () => {
  it.each([
    ['Alarms', 0.1, counts.metricsOfAlarms],
    ['Custom metrics', 0.3, counts.customMetrics],
    ['Keys', 1, counts.keys],
    ['Dashboard', 3, counts.dashboards],
  ] as const)('says what is paid for the resources of the template: %s', (begin, price, count) => {
    expect(row(begin)).toEqual(deployments.map((context) => cents(price * count(context))));
  });

  it.each([
    [
      'Total for the requests',
      [
        'HTTP API',
        'Lambda',
        'DynamoDB',
        'Storage',
        'Logs',
        'Traces',
        'Signing secret',
        'Seal',
        'Transfer',
      ],
    ],
    ['Total for any number', ['Alarms', 'Custom metrics', 'Keys', 'Dashboard']],
  ])('adds up: %s', (total, parts) => {
    const columns = parts.map(row);
    const sums = row(total).map((_, column) =>
      cents(columns.reduce((sum, cells) => sum + (cells[column] ?? Number.NaN), 0)),
    );

    expect(row(total)).toEqual(sums);
  });

  it('says from where on a development and a production deployment cost, as README.md does', () => {
    const [requests = 0] = row('Total for the requests');
    const [seal = 0] = row('Seal');
    const [development = 0, inProduction = 0] = row('Total for any number');
    const sessions = [...cost.matchAll(/at most \$([\d.]+),|adds \$([\d.]+),/g)];
    const [ofSessions, ofRefreshes] = sessions.map(([, one, other]) => Number(one ?? other));

    const least = [
      development + requests - seal,
      inProduction + requests + Number(ofSessions) + Number(ofRefreshes),
    ].map(Math.round);

    const said = /about (\d+)\s+dollars a month.*?in development and (\d+) in production/s;
    for (const text of [cost, readFileSync('README.md', 'utf8')]) {
      expect(said.exec(text)?.slice(1).map(Number)).toEqual(least);
    }
  });
});
