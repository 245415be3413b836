import { DomainError } from '../../lib/ground/errors.ts';
import { config, keepsSeal } from '../../lib/ground/settings.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { dueBefore } from '../../lib/seal/finding.ts';
import { type Check, fingerprintOf, type SignedHeader } from '../../lib/seal/header.ts';
import { timeIn } from '../../lib/seal/line.ts';
import * as shownHeader from '../../lib/seal/newest-header.ts';
import { readPublicKey } from '../../lib/seal/public-key.ts';
import { isRecent, nextCheck } from '../../lib/seal/schedule.ts';
import * as wholeCheck from '../../lib/seal/whole-check.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async () => {
  if (!keepsSeal(config)) throw new DomainError('AUDIT_NOT_SEALED');
  const { key, newest, whole } = await readShown().catch((cause) => {
    throw new DomainError('STORAGE_FAULT', { cause });
  });
  const { auditRetentionDays: table, auditLockDays: lock, auditArchiveDays: archive } = config;
  const known = { key, days: { table, lock, archive }, whole: whole ? progressOf(whole) : null };
  const standing = newest
    ? standingOf(newest, Date.now())
    : { interval: config.auditSealInterval, newest: null, behind: null, check: null };
  return { statusCode: 200, body: { ...known, ...standing } };
});

async function readShown() {
  const publicKey = await readPublicKey();
  const [newest, whole] = await Promise.all([shownHeader.read(publicKey), wholeCheck.read()]);
  return { key: fingerprintOf(publicKey), newest, whole };
}

function progressOf({ asked_at, checked, of, ended_at }: wholeCheck.WholeCheck) {
  return { asked_at, checked, of, ended_at };
}

function standingOf({ interval, number, at, until: end, count, check }: SignedHeader, now: number) {
  // A full file ends at the key of an entry, which does not always begin with a time.
  const until = timeIn(end) ?? at;
  const isBehind = end < dueBefore(interval, now);
  const behind = isBehind ? Math.floor((now - Date.parse(until)) / 1000) : null;
  const newest = { number, at, until, count };
  return { interval, newest, behind, check: check && checkOf(check, interval, now) };
}

function checkOf(last: Check, interval: number, now: number) {
  const { at, until, entries, later, findings, named, found } = last;
  const next = new Date(nextCheck(last, interval)).toISOString();
  const recent = isRecent(last, interval, now);
  return { at, until, entries, total: entries + later, next, recent, findings, named, found };
}
