import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../functions/client/paths.ts';
import {
  changesFrom,
  curlOf,
  endOfKeyBefore,
  isOver,
  isUnused,
  scopes,
} from '../../../../functions/console/web/machine.ts';
import { happened } from '../../../../functions/console/web/trail/happened.ts';
import { machinePartOf } from '../../../../functions/console/web/trail/machine-part.ts';
import { parametersOf, readState } from '../../../../functions/console/web/trail/query.ts';
import { scopes as known } from '../../../../lib/options/machines/machine.ts';

const noon = Date.UTC(2026, 10, 22, 12);
const daysBefore = (days: number) => new Date(noon - days * 86_400_000).toISOString();

it('Each scope has a sentence that says what it allows.', () => {
  expect(Object.keys(scopes)).toEqual(known);
});

describe('A machine', () => {
  it.each([
    [{ created_at: daysBefore(89), last_used_on: null }, false],
    [{ created_at: daysBefore(91), last_used_on: null }, true],
    [{ created_at: daysBefore(200), last_used_on: '2026-08-25' }, false],
    [{ created_at: daysBefore(200), last_used_on: '2026-08-24' }, true],
    [{ created_at: daysBefore(89), last_used_on: '2026-11-22' }, false],
  ])('is unused if 90 days have passed since its last use, or since it was made: %j', (of, is) => {
    expect(isUnused(of, noon)).toBe(is);
  });

  it.each([
    [null, false],
    [daysBefore(-1), false],
    [daysBefore(0), true],
  ])('is over once its end has come: %s', (end, is) => {
    expect(isOver(end, noon)).toBe(is);
  });

  it.each([
    [[], undefined],
    [[null], undefined],
    [[null, daysBefore(-1)], daysBefore(-1)],
    [[null, daysBefore(1)], undefined],
  ])('has a key before the newest one until that ends: %j', (ends, end) => {
    const keys = ends.map((expires_at) => ({ created_at: daysBefore(2), expires_at }));
    expect(endOfKeyBefore({ keys }, noon)).toBe(end);
  });

  const machine = {
    name: 'Billing',
    scopes: ['users:read' as const, 'audit:write' as const],
    expires_at: daysBefore(-1),
  };
  const same = { ...machine, expiresAt: machine.expires_at };

  it.each([
    [{ scopes: ['audit:write' as const, 'users:read' as const] }, undefined],
    [{ name: 'Orders' }, { name: 'Orders' }],
    [{ scopes: ['audit:write' as const] }, { scopes: ['audit:write'] }],
    [{ expiresAt: null }, { expiresAt: null }],
  ])('is changed only in the fields that differ: %j', (to, changes) => {
    expect(changesFrom(machine, { ...same, ...to })).toEqual(changes);
  });

  it('has a command that writes an entry with its key', () => {
    const keys = [{ created_at: '2026-11-22T12:00:00.000Z', expires_at: null }];
    expect(curlOf('https://a.example', { key: 'mk_1_x', keys })).toBe(
      `curl -X POST https://a.example/api/admin/audit-logs -H 'Authorization: Bearer mk_1_x' -H 'Idempotency-Key: 2026-11-22T12:00:00.000Z' -H 'Content-Type: application/json' -d '{"entries":[{"action":"CREATE","resource":"example.orders","resourceId":"1","result":"SUCCESS"}]}'`,
    );
  });
});

describe('The machine of an entry', () => {
  it.each([
    [{}, undefined],
    [{ machine_id: null }, undefined],
    [{ machine_id: 'Machine #1' }, undefined],
    [{ machine_id: 3, resource: 'shop.orders' }, 'wrote'],
    [{ machine_id: 3, resource: 'shop.orders', user_id: 17 }, 'wrote'],
    [{ machine_id: 3 }, 'acted'],
    [{ machine_id: 3, action: 'EXPORT', resource: 'audit-logs' }, 'acted'],
    [{ machine_id: 3, details: '{"invited":true}' }, 'acted'],
    [{ machine_id: 3, user_id: 17 }, 'passed'],
    [{ machine_id: 3, action: 'LOGIN', result: 'FAILURE' }, 'passed'],
    [{ machine_id: 3, details: '{"fields":[],"by":"reset","requested":true}' }, 'passed'],
    [{ machine_id: 3, action: 'CREATE', details: '{"reason":"email_registered"}' }, 'passed'],
  ])('wrote it, acted, or passed a request on: %j', (fields, part) => {
    const entry = { user_id: null, action: 'UPDATE', resource: 'users', details: null, ...fields };
    expect(machinePartOf(entry as unknown as AuditEntry)).toBe(part);
  });

  it('cannot use the words of the service in details of its own', () => {
    const details =
      '{"suspended":true,"by":"reset","role: user → admin":1,"status":{"from":"paid","to":"sent"}}';
    expect(happened({ resource: 'shop.users', details })).toBe(
      'suspended: true, by: reset, ⁨"role: user → admin"⁩: 1, status: paid → sent',
    );
  });
});

it('The query of the trail has the parameters of machines.', () => {
  const query = { from: 'machines', resource: 'shop.orders', resourceId: 'a', machineId: '3' };
  expect(parametersOf(readState(query))).toEqual({ ...query, machineId: 3 });
  expect(parametersOf(readState({ machineId: 'none', group: 'resource' }))).toEqual({});
});
