import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dollarsOfHour, greatestDollars } from '../prove/cost.ts';
import { masked } from '../prove/report.ts';
import type { Place } from '../rehearsal/place.ts';
import { doStep, type Outcome, type Proof } from '../rehearsal/proof.ts';
import { saw } from '../rehearsal/step.ts';
import { steps } from '../rehearsal/steps.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const isProved = existsSync(`infra/proofs/${version}.md`);
const words = 'not proved in AWS';

it.each(['README.md', '.github/SECURITY.md'])(
  '%s says that the version is not proved in AWS until its report is in infra/proofs',
  (file) => {
    expect(readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ').includes(words)).toBe(!isProved);
  },
);

it('The notes of a release say that the version is not proved in AWS unless its report is in infra/proofs', () => {
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8');

  expect(workflow).toContain(words);
  expect(workflow).toMatch(/if \[ ! -f "infra\/proofs\/\$\{TAG#v\}\.md" \]; then/);
});

it('infra/proving.md begins by saying that its authors have never run it, and has at most 500 words', () => {
  const text = readFileSync('infra/proving.md', 'utf8');
  const [, first = ''] = /^# [^\n]*\n\n(.*?[.:])(?:\s|$)/s.exec(text) ?? [];

  expect(first.replaceAll(/\s+/g, ' ')).toContain('Its authors have never run this in AWS');
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(500);
});

it('Each report in infra/proofs proves every step in AWS for its version, and names no account', () => {
  for (const file of globSync('infra/proofs/*.md')) {
    const text = readFileSync(file, 'utf8');
    const [, ofVersion = '', proved, all] =
      /^# Proof of (\S+) in AWS$.*^- Proved: (\d+) of (\d+) steps$/ms.exec(text) ?? [];

    expect(file).toBe(`infra/proofs/${ofVersion}.md`);
    expect(proved).toBe(all);
    expect(text).not.toMatch(/\b\d{12}\b/);
  }
});

it('A report has no account, no address of a machine and no address of a person', () => {
  const account = '123456789012';
  const text =
    `arn:aws:iam::${account}:user/x at https://a1.execute-api.eu-central-1.amazonaws.com/api ` +
    'and sqs.eu-central-1.amazonaws.com, 192.0.2.7, ada@example.com; 12.5 s, 200 of 200';

  expect(masked(text, { account })).toBe(
    'arn:aws:iam::(account):user/x at (address) and (address), (address), (address); 12.5 s, 200 of 200',
  );
});

/** The outcomes of all steps at a place, if each step succeeds and sees these ids of requests. */
const outcomesAt = async (name: Place['name'], ids: readonly string[]) => {
  const proof = { place: { name } } as Proof;
  const run = async () => {
    ids.forEach(saw);
    return 'as it should be';
  };
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await doStep({ ...step, run }, proof));
  return outcomes;
};

it('Steps for which the emulator lacks a feature are not proved there, even if they succeed', async () => {
  const outcomes = await outcomesAt('the emulator', ['1']);

  const others = outcomes.filter(({ outcome }) => outcome !== 'proved');
  expect(others.map(({ name }) => name)).toEqual([
    ...['throttles', 'latency', 'load', 'permissions'],
    ...['permissions-of-production', 'alarm', 'lock'],
  ]);
  for (const { why } of others) expect(why).toMatch(/^the emulator lacks it: /);
});

it('A step that saw no request id has proved nothing in AWS', async () => {
  const outcomes = await outcomesAt('AWS', []);

  expect(outcomes.map(({ outcome }) => outcome)).not.toContain('proved');
});

it('A proof costs less than 5 dollars', () => {
  expect(dollarsOfHour()).toBeGreaterThan(0.01);
  expect(greatestDollars()).toBeGreaterThan(dollarsOfHour());
  expect(greatestDollars()).toBeLessThan(5);
});
