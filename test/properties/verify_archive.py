"""Verifies copies of the archive of the audit trail. Written by lib/seal/README.md alone.

Usage: verify_archive.py [--running] PUBLIC_KEY TIME FOLDER...

Prints one line for each FOLDER: `intact`, or the first thing that is wrong; index keys are checked last.
PUBLIC_KEY is a PEM file that the caller trusts; TIME is the verifier's clock, in seconds since 1970.
With --running the service is said to run, so that its newest digest must be recent. Each FOLDER is a
copy of an archive with a file items.ndjson: the items of the table in DynamoDB's own JSON.
"""
import base64
import datetime
import hashlib
import json
import os
import re
import sys
import zlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FIELDS = ('id', 'user_id', 'action', 'resource', 'resource_id',
          'ip_address', 'user_agent', 'result', 'details', 'created_at')
INDEX_KEYS = {'shard', 'created_at_id', 'action_shard', 'user_key', 'user_action', 'resource_key', 'failure_shard'}
BEGINNING = '0000-01-01T00:00:00.000Z'
GROUP_ORDER = 2 ** 252 + 27742317777372353535851937790883648493
SAFE = 9007199254740991
DAY = 86400 * 1000  # All times are compared as milliseconds since 1970.


class Wrong(Exception):
    """A finding."""


class Unreadable(Exception):
    """What is no finding where its window may be gone."""


def need(condition, what, kind=Wrong):
    if not condition:
        raise kind(what)


# Times

def milliseconds(text):
    """The time of the one form as milliseconds since 1970, or None for anything else."""
    if not isinstance(text, str):
        return None
    match = re.fullmatch(r'([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z', text)
    if not match:
        return None
    year, month, day, hour, minute, second, milli = map(int, match.groups())
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:  # Python has no year 0; the calendar repeats after 400 years, which are 146097 days.
        days = datetime.date(year or 400, month, day).toordinal() - (0 if year else 146097)
    except ValueError:
        return None
    days -= datetime.date(1970, 1, 1).toordinal()
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli


def text_of(time):
    """Milliseconds since 1970 as a time of the one form."""
    days, rest = divmod(time, DAY)
    days += datetime.date(1970, 1, 1).toordinal()
    date = datetime.date.fromordinal(days if days > 0 else days + 146097)
    return '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ' % (
        date.year if days > 0 else 0, date.month, date.day,
        rest // 3600000, rest // 60000 % 60, rest // 1000 % 60, rest % 1000)


def time_of_name(name):
    """The time T of a digest's name, as text of the one form, or None."""
    match = isinstance(name, str) and re.fullmatch(
        r'([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{3})Z\.digest\.json', name)
    text = '{}-{}-{}T{}:{}:{}.{}Z'.format(*match.groups()) if match else None
    return text if milliseconds(text) is not None else None


# JSON

def plain_integer(token):
    if not re.fullmatch(r'0|-?[1-9][0-9]{0,15}', token) or abs(int(token)) > SAFE:
        raise ValueError('a number of another form')
    return int(token)


def refuse(token):
    raise ValueError('a number of another form')


def parse(text):
    """JSON with plain integers only. Double members and white space show when it is written again."""
    return json.loads(text, parse_int=plain_integer, parse_float=refuse, parse_constant=refuse)


def quoted(text):
    """A text as JSON.stringify writes it."""
    return re.sub('[\ud800-\udfff]', lambda lone: '\\u%04x' % ord(lone[0]), json.dumps(text, ensure_ascii=False))


def units(text):
    return text.encode('utf-16-be', 'surrogatepass')


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


# Lines

def written(value):
    """JSON without white space, names in order; parse() left no number but plain integers."""
    if isinstance(value, dict):
        return '{' + ','.join(quoted(name) + ':' + written(value[name]) for name in sorted(value, key=units)) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(written, value)) + ']'
    return quoted(value) if isinstance(value, str) else json.dumps(value)


class Line:
    """A line: its bytes without `late`, whether it is late, and its members."""

    def __init__(self, entry):
        beside = entry['beside']
        members = [quoted(name) + ':' + written(entry[name]) for name in FIELDS if name in entry]
        members.append('"beside":{' + ','.join(quoted(name) + ':' + written(beside[name])
                                               for name in sorted(beside, key=units)) + '}')
        self.bytes = ('{' + ','.join(members) + '}').encode('utf-8')
        self.late = entry.get('late') is True
        self.entry = entry
        self.id = written(entry.get('id'))
        self.created = milliseconds(entry.get('created_at'))

    def may_have_left(self, now):
        expires = self.entry['beside'].get('expires_at')
        return (is_integer(expires) and self.created is not None and expires * 1000 <= now
                and expires * 1000 - self.created > 30 * DAY - 1000)

    def listed(self):
        """The (id, sha256) that this entry lists, where it is the entry of a replay."""
        entry = self.entry
        if entry.get('action') != 'CREATE' or entry.get('resource') != 'audit-logs':
            return set()
        details = entry.get('details') if isinstance(entry.get('details'), str) else ''
        found = re.findall(r'\{"id":(0|[1-9][0-9]{0,15}),"sha256":"([0-9a-f]{64})"\}', details)
        return {(int(number), sha256) for number, sha256 in found if int(number) <= SAFE}


def read_line(raw):
    try:
        entry = parse(raw.decode('utf-8'))
        if not isinstance(entry, dict) or not isinstance(entry.get('beside'), dict):
            raise ValueError('no object with beside')
        if INDEX_KEYS.union(FIELDS).intersection(entry['beside']):
            raise ValueError('beside has what must not be there')
        line = Line(entry)
        if (line.bytes[:-1] + b',"late":true}' if line.late else line.bytes) != raw:
            raise ValueError('written otherwise than it must be')
        return line
    except (ValueError, RecursionError) as error:
        raise Unreadable('a line is not of the form: ' + (str(error) or 'nested too deeply'))


# Items of the table

def stored(value):
    """A value in DynamoDB's own JSON, as a line has it within L and M."""
    (kind, content), = value.items()
    if kind in ('SS', 'NS', 'BS'):
        content = sorted(content, key=units)
    elif kind == 'L':
        content = list(map(stored, content))
    elif kind == 'M':
        content = {name: stored(member) for name, member in content.items()}
    return {kind: content}


def native(name, value):
    """An attribute as a line has it."""
    if name == '__proto__' or 'NULL' in value:
        return None
    if 'S' in value:
        return value['S']
    try:
        return plain_integer(value['N'])
    except (KeyError, ValueError):
        return stored(value)


def line_of(item):
    entry = {name: native(name, item[name]) for name in FIELDS if name in item}
    entry['beside'] = {name: native(name, value) for name, value in item.items()
                       if name not in INDEX_KEYS.union(FIELDS)}
    return Line(entry)


def index_keys(entry):
    """The index keys that the fields of an entry make, or None where they can make none."""
    number, created_at, action = (entry.get(name) for name in ('id', 'created_at', 'action'))
    user, resource = entry.get('user_id'), entry.get('resource_id')
    if not (is_integer(number) and number >= 0 and isinstance(created_at, str) and isinstance(action, str)
            and (user is None or is_integer(user)) and (resource is None or isinstance(resource, str))):
        return None
    shard = str(number % 8)
    keys = {'shard': shard, 'created_at_id': '%s#%016d' % (created_at, number), 'action_shard': action + '#' + shard}
    if user is not None:
        keys.update(user_key=str(user), user_action='%d#%s' % (user, action))
    if resource:
        keys['resource_key'] = resource
    if entry.get('result') == 'FAILURE':
        keys['failure_shard'] = shard
    return {name: {'S': key} for name, key in keys.items()}


# Files

def read(path):
    # Links are followed; neither folder nor pipe.
    need(os.path.isfile(path), 'no file: ' + ascii(os.path.basename(path)), Unreadable)
    with open(path, 'rb') as file:
        return file.read()


def unzip(content):
    """One or more members of gzip, with nothing after them."""
    text = b''
    while True:
        gzip = zlib.decompressobj(wbits=31)
        try:
            text += gzip.decompress(content)
        except zlib.error:
            raise Unreadable('it is no gzip')
        need(gzip.eof, 'its gzip is cut off', Unreadable)
        content = gzip.unused_data
        if not content:
            return text


# Digests

def has_form(value, form):
    """form: a dict of members in their order, a regular expression, or a function."""
    if isinstance(form, dict):
        return (isinstance(value, dict) and list(value) == list(form)
                and all(has_form(value[name], form[name]) for name in form))
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value) is not None
    return form(value)


def integer(least, most=SAFE):
    return lambda value: is_integer(value) and least <= value <= most


def or_null(form):
    return lambda value: value is None or has_form(value, form)


def is_time(value):
    return milliseconds(value) is not None


HASH, SIGNATURE = '[0-9a-f]{64}', '[0-9a-f]{128}'
DIGEST = {
    'format': integer(2, 2), 'from': is_time, 'until': is_time, 'at': is_time,
    'interval': integer(1, 86400), 'archive_days': integer(0, 36500),
    'entries': {'file': r'[0-9]{8}T[0-9]{9}Z\.[0-9a-f]{64}\.ndjson\.gz', 'sha256': HASH, 'count': integer(0), 'late': integer(0),
                'oldest': or_null(is_time), 'newest': or_null(is_time)},
    'verified': or_null({'from': is_time, 'until': is_time, 'at': is_time, 'faults': integer(0)}),
    'previous': or_null({'file': lambda name: time_of_name(name) is not None, 'sha256': HASH, 'signature': SIGNATURE}),
    'key': HASH, 'signature': SIGNATURE,
}


class Digest:
    """A digest that has the form, the signature, and keeps the rules that need no other digest."""

    def __init__(self, folder, name, key, now):
        content = read(os.path.join(folder, name))
        try:
            self.members = members = parse(content.decode('utf-8'))
            form = has_form(members, DIGEST)
        except (ValueError, RecursionError):
            form = False
        need(form, 'unreadable, not of the form', Unreadable)
        written = json.dumps(members, separators=(',', ':')).encode()
        need(written + b'\n' == content, 'unreadable, written otherwise than it must be', Unreadable)
        stamp = re.sub('[-:.]', '', members['from'])
        need(name == stamp + '.digest.json', 'not named for its from', Unreadable)
        spki = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        signature = bytes.fromhex(members['signature'])
        need(int.from_bytes(signature[32:], 'little') < GROUP_ORDER, 'signature not below the group order', Unreadable)
        signed = written[:written.rindex(b',"signature":')] + b'}'
        try:
            key.verify(signature, hashlib.sha256(signed).digest())
        except InvalidSignature:
            raise Unreadable('signature not valid')

        self.name, self.folder = name, folder
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.signature = members['signature']
        self.entries, self.previous = members['entries'], members['previous']
        self.begin, self.until, self.at = (milliseconds(members[name]) for name in ('from', 'until', 'at'))
        self.archive = members['archive_days'] * DAY
        self.interval = members['interval']
        self.grace = min(members['interval'], 60) * 1000
        self.reread = max(6 * members['interval'], 60) * 1000

        entries, verified = self.entries, members['verified']
        need(members['key'] == hashlib.sha256(spki).hexdigest(), 'of another key')
        need(entries['file'] == stamp + '.' + entries['sha256'] + '.ndjson.gz', 'names a wrong file of entries')
        need(self.begin < self.until, 'from is not before until')
        need(self.until + self.grace <= self.at, 'until is not a grace before at')
        need(self.at <= now + self.grace, 'at is in the future')
        need(entries['late'] <= entries['count'], 'more late lines than lines')
        need((entries['oldest'] is None) == (entries['newest'] is None), 'only one of oldest and newest')
        need(entries['oldest'] is None or entries['oldest'] <= entries['newest'], 'oldest is after newest')
        if verified:
            need(verified['from'] < verified['until'], 'verified.from is not before verified.until')
            need(verified['at'] <= members['at'], 'verified.at is after at')
        need((self.previous is None) == (members['from'] == BEGINNING), 'previous is null at the wrong place')

    def lines(self):
        """The lines of its file of entries. Raises Unreadable where that is not as it was sealed."""
        content = read(os.path.join(self.folder, self.entries['file']))
        need(hashlib.sha256(content).hexdigest() == self.entries['sha256'], 'the file has another sha256', Unreadable)
        text = unzip(content)
        need(text == b'' or text.endswith(b'\n'), 'the last line is not ended', Unreadable)
        lines = [read_line(raw) for raw in text.split(b'\n')[:-1]]
        late = [line for line in lines if line.late]
        timely = lines[:len(lines) - len(late)]
        need(len(lines) == self.entries['count'], 'count is wrong')
        need(len(late) == self.entries['late'], 'late is wrong')
        times = [line.entry['created_at'] for line in lines if line.created is not None]
        need(self.entries['oldest'] == min(times, default=None), 'oldest is wrong')
        need(self.entries['newest'] == max(times, default=None), 'newest is wrong')
        need(not any(line.late for line in timely), 'a late line is not last')
        need(len({line.id for line in late}) == len(late), 'an entry is late twice')
        for line in timely:
            need(line.created is not None and self.begin <= line.created < self.until,
                 'entry %s is not of the window and not late' % line.id)
            need(is_integer(line.entry['id']) and line.entry['id'] >= 0, 'a line without a good id is not late')
        for part, order in ((timely, lambda line: (line.created, line.entry['id'])), (late, lambda line: line.bytes)):
            need(all(order(one) < order(two) for one, two in zip(part, part[1:])), 'the lines are not in order')
        return lines


# Verification

class Gap:
    def __init__(self, begin, end, may_hold_late):
        self.begin, self.end, self.may_hold_late = begin, end, may_hold_late


def read_chain(folder, key, now):
    """The digests in their order, the time until which files may have left, and the gaps between digests."""
    digests, gaps, end, before = [], [], milliseconds(BEGINNING), None
    for name in sorted(name for name in os.listdir(folder) if name.endswith('.digest.json')):
        need(time_of_name(name), 'digest %s: unreadable, its name has not the form' % ascii(name))
        try:
            digests.append(Digest(folder, name, key, now))
        except (Unreadable, OSError):
            gaps.append(Gap(milliseconds(time_of_name(name)), None, True))
        except Wrong as error:
            raise Wrong('digest %s: %s' % (ascii(name), error))
    need(digests, 'no digest: the archive proves nothing')
    left = max([one.at - one.archive for one in digests if one.archive]
               + [now - one.archive for one in digests[-1:] if one.archive], default=None)
    for gap in gaps:
        gap.end = min((one.begin for one in digests if one.begin > gap.begin), default=None)
        need(gap.end is not None, 'the newest digest is unreadable')
    for one in digests:
        where = 'digest %s: ' % one.name
        need(one.begin >= end, where + 'begins before the one before ends')
        if one.begin > end:
            gaps.append(Gap(end, one.begin, True))
        elif before:
            need(one.previous == {'file': before.name, 'sha256': before.sha256, 'signature': before.signature},
                 where + 'previous is not the digest before')
        end, before = one.until, one
    for gap in gaps:
        need(left is not None and gap.end <= left, 'a gap is missing or unreadable')
    return digests, left, gaps


def read_table(folder):
    """The lines of the table, by their ids, and the ids of items whose index keys are wrong."""
    table, hidden = {}, []
    for raw in read(os.path.join(folder, 'items.ndjson')).splitlines():
        item = json.loads(raw)
        line = line_of(item)
        need(line.id not in table, 'items.ndjson: twice: entry ' + line.id)
        table[line.id] = line
        if index_keys(line.entry) != {name: value for name, value in item.items() if name in INDEX_KEYS}:
            hidden.append(line.id)
    return table, hidden


def verify_shown_key(folder, key):
    try:
        shown = serialization.load_pem_public_key(read(os.path.join(folder, 'public-key.pem')))
    except (Unreadable, OSError, ValueError):
        raise Wrong('public-key.pem: not there, or no public key')
    need(isinstance(shown, Ed25519PublicKey) and shown.public_bytes_raw() == key.public_bytes_raw(),
         'public-key.pem: another key')


def verify(folder, key, now, is_running):
    digests, left, gaps = read_chain(folder, key, now)
    verify_shown_key(folder, key)
    table, hidden = read_table(folder)
    newest, sealed = digests[-1], set()
    allowed = max(3 * newest.interval * 1000 + newest.grace, 300000)
    need(not is_running or newest.until >= now - allowed, 'sealing has stopped, or digests were taken away')
    for digest in digests:
        try:
            lines = digest.lines()
        except (Unreadable, OSError) as error:
            need(left is not None and digest.until <= left, 'file of entries %s: %s' % (digest.entries['file'], error))
            gaps.append(Gap(digest.begin, digest.until, digest.entries['late'] > 0))
            continue
        for line in lines:
            sealed.add(line.bytes)
            other = table.get(line.id)
            if other and (line.late or not line.may_have_left(now)
                          or other.entry.get('created_at') == line.entry['created_at']):
                need(other.bytes == line.bytes, 'entry %s: changed, the table has another line' % line.id)
            else:
                need(line.may_have_left(now), 'entry %s: deleted, it was sealed and is not in the table' % line.id)

    latest = now + newest.grace
    again = max(newest.at - newest.reread, milliseconds(BEGINNING))
    for digest in digests:
        if digest.previous and digest.begin <= again < digest.until:
            again = digest.begin
    again = min(again, newest.until)  # A run may have ended before it caught up.
    listed = set()
    for line in table.values():
        if line.created is not None and again <= line.created <= latest:
            listed |= line.listed()
    for line in table.values():
        if line.bytes in sealed:
            continue
        time = line.entry.get('created_at')
        time = time if isinstance(time, str) else ''
        if any(text_of(gap.begin) <= time < text_of(gap.end) for gap in gaps):
            continue  # Unproven: only gaps that are no finding come this far, so nothing is unclear.
        if line.created is not None and line.created <= latest and (
                line.created >= again
                or is_integer(line.entry.get('id'))
                and (line.entry['id'], hashlib.sha256(line.bytes).hexdigest()) in listed):
            continue  # Unsealed.
        if any(gap.may_hold_late and time < text_of(gap.end) for gap in gaps):
            continue  # Unproven.
        raise Wrong('entry %s: inserted, it was not sealed' % line.id)
    need(not hidden, 'index keys of entry %s' % ' '.join(hidden[:1]))


def main(arguments):
    is_running = arguments[:1] == ['--running']
    arguments = arguments[is_running:]
    if len(arguments) < 2 or not re.fullmatch(r'[0-9]{1,12}(\.[0-9]{1,9})?', arguments[1]):
        sys.exit('Usage: verify_archive.py [--running] PUBLIC_KEY TIME FOLDER...')
    with open(arguments[0], 'rb') as file:
        key = serialization.load_pem_public_key(file.read())
    if not isinstance(key, Ed25519PublicKey):
        sys.exit('The public key is not one of Ed25519.')
    seconds, _, fraction = arguments[1].partition('.')
    now = int(seconds) * 1000 + int((fraction + '000')[:3])
    for folder in arguments[2:]:
        try:
            verify(folder, key, now, is_running)
            result = 'intact'
        except Wrong as error:
            result = str(error)
        except Exception as error:  # Whatever an archive holds, it ends in a line.
            result = 'cannot be read: ' + type(error).__name__ + ' ' + str(error)
        print(re.sub(r'[^ -~]', lambda other: ascii(other[0])[1:-1], result), flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
