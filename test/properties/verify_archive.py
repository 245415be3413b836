"""Verifies a sealed audit archive, written from the page of the format alone (lib/seal/README.md).

verify_archive.py ARCHIVE_FOLDER PUBLIC_KEY.pem NOW_ISO [TABLE.ndjson]
Without arguments each line of the input is a JSON array of these, and gets a line of its own.
TABLE has an item a line, as DynamoDB writes them. Kinds of findings are the numbers of the rules of
the page; subjects are numbers of files, or ids as JSON. `good` are the numbers with a good header.
Only the standard library is used.
"""
import base64
import functools
import hashlib
import json
import os
import re
import stat
import struct
import sys
import zlib
from datetime import datetime, timedelta

sys.setrecursionlimit(5000)
SAFE, LAST = 9007199254740991, 9999999999
DAY, MINUTE = 86400000, 60000
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
NAME = re.compile(r'([0-9]{10})\.ndjson\.gz')
TIME = re.compile(r'([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z')
REPLAY = re.compile(r'"entries":\[([0-9]{1,16}(?:,[0-9]{1,16})*)\]')
PLAIN = re.compile(r'0|-?[1-9][0-9]*')
MEMBERS = ('format number previous at interval from until count oldest newest length sha256 archive_days check '
           'key signature').split()

# Ed25519 (RFC 8032): the field, the curve, and points as (X, Y, Z, T).
FIELD = 2 ** 255 - 19
CURVE = -121665 * pow(121666, -1, FIELD) % FIELD
ROOT = pow(2, (FIELD - 1) // 4, FIELD)
SPKI = bytes.fromhex('302a300506032b6570032100')


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % FIELD, (p[1] + p[0]) * (q[1] + q[0]) % FIELD
    c, d = 2 * p[3] * q[3] * CURVE % FIELD, 2 * p[2] * q[2] % FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD


def times(scalar, point):
    product = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            product = add(product, point)
        point, scalar = add(point, point), scalar >> 1
    return product


@functools.cache
def point_of(data):
    number = int.from_bytes(data, 'little')
    sign, y = number >> 255, number & (2 ** 255 - 1)
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if x * x % FIELD != square:
        x = x * ROOT % FIELD
    need(y < FIELD and x * x % FIELD == square and (x or not sign))
    x = FIELD - x if x & 1 != sign else x
    return x, y, 1, x * y % FIELD


def bytes_of(point):
    inverse = pow(point[2], -1, FIELD)
    x, y = point[0] * inverse % FIELD, point[1] * inverse % FIELD
    return (y | (x & 1) << 255).to_bytes(32, 'little')


@functools.cache
def is_signed(key, message, signature):
    """Whether S is below the order of the group and R is [S]B - [k]A, to the byte."""
    scalar = int.from_bytes(signature[32:], 'little')
    if scalar >= ORDER:
        return False
    base = point_of(bytes([0x58] + 31 * [0x66]))
    x, y, z, t = point_of(key)
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), 'little') % ORDER
    return bytes_of(add(times(scalar, base), times(k, (-x, y, z, -t)))) == signature[:32]


class Bad(Exception):
    pass


def units(text):
    return text.encode('utf-16-be', 'surrogatepass')


def millis(text):
    """Milliseconds since 1970 of a time; None of anything else."""
    if not isinstance(text, str) or not TIME.fullmatch(text):
        return None
    year, *rest, milli = map(int, TIME.fullmatch(text).groups())
    early = 400 if year < 400 else 0  # Python has no year 0; 400 years are 146,097 days
    try:
        since = datetime(year + early, *rest) - datetime(1970, 1, 1)
    except ValueError:
        return None
    return (since.days - (146097 if early else 0)) * DAY + since.seconds * 1000 + milli


def iso(ms):
    """The text of a time, or None outside of the years 0000 to 9999."""
    early = ms < -60000000000000
    try:
        time = datetime(1970, 1, 1) + timedelta(days=ms // DAY + (146097 if early else 0), milliseconds=ms % DAY)
    except OverflowError:
        return None
    year = time.year - (400 if early else 0)
    return '%04d' % year + time.isoformat(timespec='milliseconds')[4:] + 'Z' if year >= 0 else None


def text_of(value):
    text = json.dumps(value, ensure_ascii=False, separators=(',', ':'))
    return re.sub('[\ud800-\udfff]', lambda match: '\\u%04x' % ord(match[0]), text)


def refuse(text):
    raise Bad('number ' + text)


def whole(text):
    value = int(text) if len(text) < 18 else refuse(text)
    return value if -SAFE <= value <= SAFE else refuse(text)


def ordered(pairs):
    names = [units(name) for name, _ in pairs]
    need(all(a < b for a, b in zip(names, names[1:])))
    return dict(pairs)


def parse(data, hook):
    """JSON that is, written again, the same bytes; or Bad."""
    try:
        text = data.decode('utf-8')
        value = json.loads(text, object_pairs_hook=hook, parse_int=whole, parse_float=refuse, parse_constant=refuse)
        need(text_of(value) == text)
    except (ValueError, RecursionError) as error:
        raise Bad(str(error))
    return value


def number(value, least=0, most=SAFE):
    return type(value) is int and least <= value <= most


def digits(value, length=64):
    return isinstance(value, str) and bool(re.fullmatch('[0-9a-f]{%d}' % length, value))


def time_or_null(value):
    return value is None or millis(value) is not None


def need(holds):
    if not holds:
        raise Bad


def read_header(data, own, key, key_hash):
    """The header (with its hash) and the second part; Bad where it is no good header."""
    need(len(data) >= 15 and data[:11] == bytes.fromhex('1f8b08000000000000ff01'))
    n, inverse = struct.unpack('<HH', data[11:15])
    need(n ^ 0xffff == inverse and 0 < n <= 16384 and len(data) >= 15 + n + 8)
    raw = data[15:15 + n]
    need(struct.unpack('<II', data[15 + n:23 + n]) == (zlib.crc32(raw), n) and raw.endswith(b'\n'))
    line = raw[:-1]
    header = parse(line, lambda pairs: dict(pairs))
    need(isinstance(header, dict) and list(header) == MEMBERS)
    need(number(header['format'], 3, 3) and number(header['number'], own, own))
    need(header['previous'] is None or digits(header['previous']))
    need(millis(header['at']) is not None and number(header['interval'], 1, 86400))
    need(isinstance(header['from'], str) and isinstance(header['until'], str) and number(header['count']))
    need(time_or_null(header['oldest']) and time_or_null(header['newest']))
    need(number(header['length'], 0, 2 ** 27) and digits(header['sha256']) and number(header['archive_days'], 0, 36500))
    check = header['check']
    if check is not None:
        need(isinstance(check, dict) and list(check) == ['at', 'first', 'last', 'findings', 'found'])
        need(millis(check['at']) is not None and number(check['first'], 1) and number(check['last'])
             and number(check['findings']) and time_or_null(check['found']))
    need(header['key'] == key_hash and digits(header['signature'], 128))
    signed = line[:line.rindex(b',"signature"')] + b'}'
    need(is_signed(key, hashlib.sha256(signed).digest(), bytes.fromhex(header['signature'])))
    header['hash'] = hashlib.sha256(raw).hexdigest()
    header['start'] = 23 + n
    return header


def read_lines(header, path):
    need(os.stat(path).st_size == header['start'] + header['length'])
    part = read_file(path, header['start'], header['length'])
    need(hashlib.sha256(part).hexdigest() == header['sha256'])
    need(part)
    data = b''
    while part:
        unpacker = zlib.decompressobj(31)
        try:
            data += unpacker.decompress(part)
        except zlib.error as error:
            raise Bad(str(error))
        need(unpacker.eof)
        part = unpacker.unused_data
    need(not data or data.endswith(b'\n'))
    lines = []
    for raw in data.split(b'\n')[:-1]:
        value = parse(raw, ordered)
        need(isinstance(value, dict))
        lines.append((value, raw.decode('utf-8')))
    return lines


def own_json(value):
    """DynamoDB's own JSON with names in M and members of sets in order."""
    (kind, inner), = value.items()
    if kind == 'M':
        return {'M': {name: own_json(inner[name]) for name in sorted(inner, key=units)}}
    if kind == 'L':
        return {'L': [own_json(member) for member in inner]}
    return {kind: sorted(inner, key=units) if kind in ('SS', 'NS', 'BS') else inner}


def attribute(name, value):
    (kind, inner), = value.items()
    if name == '__proto__' or kind == 'NULL':
        return None
    if kind == 'S' or kind == 'N' and PLAIN.fullmatch(inner) and len(inner) < 18 and abs(int(inner)) <= SAFE:
        return int(inner) if kind == 'N' else inner
    return own_json(value)


def read_file(path, start, length):
    """Some bytes under a name; none of what is no regular file or can't be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return b''
        with open(path, 'rb') as file:
            file.seek(start)
            return file.read(length)
    except OSError:
        return b''


def verify(folder, pem, now_text, table_path=None):
    spki = base64.b64decode(re.sub(r'-----.*?-----', '', pem))
    assert len(spki) == 44 and spki.startswith(SPKI), 'No Ed25519 key'
    key, key_hash = spki[12:], hashlib.sha256(spki).hexdigest()
    now = millis(now_text)
    assert now is not None, 'NOW is no time'
    names = sorted((LAST - int(match[1]), name) for name in (os.listdir(folder) if os.path.isdir(folder) else [])
                   for match in [NAME.fullmatch(name)] if match)
    findings, good, empty, broken = set(), [], [], []
    for own, name in names:  # rule 1
        data = read_file(os.path.join(folder, name), 0, 16384 + 23)
        try:
            good.append((own, name, read_header(data, own, key, key_hash)))
        except Bad:
            if data:
                findings.add((1, own))
            else:
                empty.append(own)
    headers = [header for _, _, header in good]
    ends = [millis(header['at']) - header['archive_days'] * DAY for header in headers if header['archive_days']]
    if headers and headers[-1]['archive_days']:
        ends.append(now - headers[-1]['archive_days'] * DAY)
    left = iso(max(ends)) if ends else None
    excused, before, true, altered, lines_seen = set(), None, {}, [], 0
    for own, name, header in good:  # rules 2 to 4
        if header['previous'] != before:
            broken.append(header)
            if header['from'] != '' and left is not None and units(header['from']) <= units(left):
                excused.add(own)
            else:
                findings.add((2, own))
        before = header['hash']
        try:
            lines = read_lines(header, os.path.join(folder, name))
        except Bad:
            findings.add((3, own))
            altered.append(header)
            continue
        dates = sorted(value['created_at'] for value, _ in lines if millis(value.get('created_at')) is not None)
        if [header['count'], header['oldest'], header['newest']] != [
                len(lines), dates[0] if dates else None, dates[-1] if dates else None]:
            findings.add((3, own))
            altered.append(header)
        for value, raw in lines:
            lines_seen += 1
            subject = text_of(value.get('id'))
            if true.setdefault(subject, (value, raw))[1] != raw:
                findings.add((4, subject))
    for own in empty:
        following = next((entry[0] for entry in good if entry[0] > own), None)
        if following not in excused:
            findings.add((1, own))
    counts = {'files': len(names), 'lines': lines_seen, 'entries': len(true), 'waiting': 0, 'unproven': 0}
    if table_path is not None:
        check_table(table_path, true, headers, (broken, altered), now, findings, counts)
    told = sorted(findings, key=lambda pair: (pair[0], str(pair[1])))
    return {'findings': told, 'good': [own for own, _, _ in good], **counts}


def check_table(table_path, true, headers, faulty, now, findings, counts):
    with open(table_path, encoding='utf-8', newline='\n') as file:
        items = [{name: attribute(name, raw[name]) for name in sorted(raw, key=units)}
                 for raw in (json.loads(line) for line in file if line.strip())]
    ids = {text_of(item.get('id')) for item in items}
    for subject, (value, _) in true.items():  # rule 6
        created, expires = millis(value.get('created_at')), value.get('expires_at')
        if subject not in ids and not (created is not None and type(expires) is int and expires * 1000 <= now
                                       and expires * 1000 - created > 30 * DAY - 1000):
            findings.add((6, subject))
    begin = ''
    if headers:
        interval = headers[-1]['interval'] * 1000
        closed = iso(now - min(interval, MINUTE)) or ''
        begin = next((header['until'] for header in reversed(headers) if units(header['until']) <= units(closed)), '')
    look = '' if millis(begin[:24]) is None else iso(millis(begin[:24]) - max(6 * interval, 10 * MINUTE)) or ''

    def timely(item):
        entry_key = item.get('created_at_id')
        times = [millis(item.get('created_at')), millis(entry_key[:24] if isinstance(entry_key, str) else None)]
        return all(time is not None and time - now <= 10 * MINUTE for time in times)

    def recent(item):
        return timely(item) and units(item['created_at_id']) >= units(look)

    def may_have_been_sealed(item):
        broken, altered = faulty
        key = units(item['created_at_id'])
        return any(key < units(header['from']) for header in broken) or (
            any(key < units(header['until']) for header in altered)
            and item['created_at'] >= min(header['oldest'] or '' for header in altered))

    listed = set()
    for item in items:
        details = item.get('details')
        if (item.get('action') == 'CREATE' and item.get('resource') == 'audit-logs' and isinstance(details, str)
                and item.get('shard') in [str(shard) for shard in range(8)] and recent(item)):
            match = REPLAY.search(details)
            listed.update(str(int(text)) for text in (match[1].split(',')[:1000] if match else []))
    for item in items:  # rules 5 and 7
        subject = text_of(item.get('id'))
        if subject in true:
            if text_of(item) != true[subject][1]:
                findings.add((5, subject))
        elif recent(item) or timely(item) and subject in listed:
            counts['waiting'] += 1
        elif timely(item) and may_have_been_sealed(item):
            counts['unproven'] += 1
        else:
            findings.add((7, subject))


def run(arguments):
    with open(arguments[1], encoding='ascii') as file:
        print(json.dumps(verify(arguments[0], file.read(), *arguments[2:])))


if __name__ == '__main__':
    for case in [sys.argv[1:]] if len(sys.argv) > 1 else map(json.loads, sys.stdin):
        run(case)
