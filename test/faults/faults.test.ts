import { beforeAll, describe, expect, it } from 'vitest';
import { everySetting } from '../support/every-setting.ts';
import { exampleRequestsOf, type Operation } from '../support/examples.ts';
import { expected, expectNoSecret, longest, nothing, observed } from './expectations.ts';
import { groups, type ProxiedRun, tryAllFaults } from './proxied.ts';

/** Milliseconds. */
const gatewayTimeout = 30_000;

const ofUsers = (operation: Operation) => operation !== 'read audit';
const ofAudit = (operation: Operation) => operation === 'read audit';

describe.each([
  ['By default', {}],
  ['With each setting that adds endpoints', everySetting],
])('%s, an endpoint whose store fails', (_, environment) => {
  const requests = exampleRequestsOf(environment);
  let runs: ReadonlyMap<string, ProxiedRun>;
  beforeAll(async () => {
    runs = await tryAllFaults(environment);
  });

  describe.each(groups.flat())('because of the fault “$name”,', ({ name, hits, isRetried }) => {
    it('succeeds after a first attempt that fails, or answers its 500', () => {
      const fails = isRetried ? nothing : hits;

      expect(observed(runs.get(name)?.once)).toEqual(expected(fails, requests));
    });

    it('answers its 500 while the users table fails, and records the failures that it has to record', () => {
      const fails = (operation: Operation) => ofUsers(operation) && hits(operation);

      expect(observed(runs.get(name)?.users)).toEqual(expected(fails, requests));
    });

    it('answers as without faults while the audit table fails, and logs the whole entry', () => {
      const outcomes = runs.get(name)?.audit;

      const fails = (operation: Operation) => ofAudit(operation) && hits(operation);
      expect(observed(outcomes)).toEqual(expected(fails, requests));
      for (const { name: endpoint, entry, operations } of requests) {
        const unwritten = entry && hits('write') && !operations.some(fails) ? [entry] : [];
        expect([endpoint, outcomes?.get(endpoint)?.logged]).toEqual([endpoint, unwritten]);
      }
    });

    it('answers as without faults after the end of the fault', () => {
      expect(observed(runs.get(name)?.afterwards)).toEqual(expected(nothing, requests));
    });

    it('answers in time, leaves no half-written user and logs no secret', () => {
      const { once, users, audit, broken, output = '' } = runs.get(name) ?? {};

      expect(Math.max(...[once, users, audit].map(longest))).toBeLessThan(gatewayTimeout);
      expect(broken).toEqual([]);
      expectNoSecret(output);
    });
  });
});
