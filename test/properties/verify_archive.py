"""Verifies a sealed audit archive, written from the page of the format alone (lib/seal/README.md).

Each line of the input is a JSON array: the folder of an archive, the file of a public key, the time now, and a
file of the table, which has an item a line, as DynamoDB writes them. Each gets a line of output: kinds of findings
are the numbers of the rules of the page, subjects are numbers of files, or ids as JSON; `good` are the numbers of
the files with a good header. Needs openssl, which checks signatures.
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import tempfile
import zlib
from datetime import datetime, timedelta

sys.setrecursionlimit(5000)
SAFE, LAST = 9007199254740991, 9999999999
DAY, MINUTE, CYCLE = 86400000, 60000, 146097 * 86400000  # 400 years: Python has no year 0
NAME = re.compile(r'([0-9]{10})\.ndjson\.gz')
TIME = re.compile(r'([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z')
REPLAY = re.compile(r'"entries":\[([0-9]{1,16}(?:,[0-9]{1,16})*)\]')
FAULTS = (ValueError, RecursionError, zlib.error)
PLAIN = re.compile(r'0|-?[1-9][0-9]{0,15}')
HASH, TEXT, WHEN, COUNT = '"[0-9a-f]{64}"', r'"(?:[^"\\]|\\.)*"', f'"{TIME.pattern}"', '(?:0|[1-9][0-9]*)'
PART = f'{{"at":{WHEN},"first":{COUNT},"last":{COUNT}}}'
NAMED = f'{{"kind":"[a-z]{{1,16}}","subject":{TEXT},"at":{WHEN}}}'
CHECK = (
    f'{{"at":{WHEN},"first":{COUNT},"last":{COUNT},"until":{WHEN},"entries":{COUNT},"later":{COUNT},'
    f'"part":(?:null|{PART}),"findings":{COUNT},"named":\\[(?:{NAMED}(?:,{NAMED}){{0,9}})?\\],"found":(?:null|{WHEN})}}')
HEADER = re.compile(
    f'{{"format":3,"number":{COUNT},"previous":(?:null|{HASH}),"at":{WHEN},"interval":{COUNT},"from":{TEXT},'
    f'"until":{TEXT},"count":{COUNT},"oldest":(?:null|{WHEN}),"newest":(?:null|{WHEN}),"length":{COUNT},'
    f'"sha256":{HASH},"archive_days":{COUNT},"check":(?:null|{CHECK}),"key":{HASH},"signature":"[0-9a-f]{{128}}"}}\n')


def need(holds):
    if not holds:
        raise ValueError


def openssl(*arguments):
    return subprocess.run(['openssl', *arguments], capture_output=True, check=False)


@functools.cache
def is_signed(key_file, message, signature):
    with tempfile.TemporaryDirectory() as folder:
        text, proof = pathlib.Path(folder, 'text'), pathlib.Path(folder, 'proof')
        text.write_bytes(message), proof.write_bytes(signature)
        return openssl('pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', key_file, '-in', text, '-sigfile',
                       proof).returncode == 0


def units(text):
    return text.encode('utf-16-be', 'surrogatepass')


def millis(text):
    """Milliseconds since 1970 of a time; None of anything else."""
    try:
        year, *rest, milli = map(int, TIME.fullmatch(text).groups())
        since = datetime(year % 400 + 2000, *rest) - datetime(1970, 1, 1)
    except (AttributeError, TypeError, ValueError):
        return None
    return (year // 400 - 5) * CYCLE + since.days * DAY + since.seconds * 1000 + milli


def iso(ms):
    """The text of a time; '' before the year 0."""
    cycles, rest = divmod(ms - millis('2000-01-01T00:00:00.000Z'), CYCLE)
    time = (datetime(2000, 1, 1) + timedelta(milliseconds=rest)).isoformat(timespec='milliseconds')
    return '%04d%sZ' % (int(time[:4]) + 400 * cycles, time[4:]) if cycles >= -5 else ''


def text_of(value):
    text = json.dumps(value, ensure_ascii=False, separators=(',', ':'))
    return re.sub('[\ud800-\udfff]', lambda match: '\\u%04x' % ord(match[0]), text)


def whole(text):
    need(len(text) < 18 and -SAFE <= int(text) <= SAFE)
    return int(text)


def depth(value):
    """How many objects and arrays lie within each other; ValueError where names do not ascend."""
    if not isinstance(value, (dict, list)):
        return 0
    need(isinstance(value, list) or list(value) == sorted(value, key=units))
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


def parse(text):
    """JSON that is, written again, the same text; or ValueError."""
    value = json.loads(text, parse_int=whole, parse_float=lambda _: need(False), parse_constant=lambda _: need(False))
    need(isinstance(value, dict) and text_of(value) == text)
    return value


def read_header(path, own, key_file, key_hash):
    """The header, with its hash, its path and where the second part starts; ValueError where it is no good header."""
    data = read_file(path, 0, 16384 + 23)
    n = int.from_bytes(data[11:13], 'little')
    raw = data[15:15 + n]
    before = bytes.fromhex('1f8b08000000000000ff01') + struct.pack('<HH', n, n ^ 0xffff)
    need(0 < n <= 16384 and data.startswith(before + raw + struct.pack('<II', zlib.crc32(raw), n)))
    need(HEADER.fullmatch(raw.decode('utf-8')))
    header = parse(raw[:-1].decode('utf-8'))
    check = header['check'] or {'at': header['at'], 'first': 1, 'until': None, 'part': None, 'named': [], 'found': None}
    part = check['part'] or {'at': header['at'], 'first': 1}
    need(header['number'] == own and 1 <= own and 1 <= header['interval'] <= 86400 and header['length'] <= 2 ** 27
         and header['archive_days'] <= 36500 and header['key'] == key_hash and check['first'] > 0
         and part['first'] > 0 and all(re.fullmatch('[ -~]{1,64}', each['subject']) for each in check['named']))
    times = [header['at'], header['oldest'], header['newest'], check['at'], check['until'], check['found'],
             part['at'],
             *(each['at'] for each in check['named'])]
    need(all(time is None or millis(time) is not None for time in times))
    signed = raw[:raw.rindex(b',"signature"')] + b'}'
    need(is_signed(key_file, hashlib.sha256(signed).digest(), bytes.fromhex(header['signature'])))
    return {**header, 'hash': hashlib.sha256(raw).hexdigest(), 'start': 23 + n, 'path': path}


def read_file(path, start, length):
    """Some bytes under a name; none of what is no regular file or can't be read."""
    try:
        need(stat.S_ISREG(os.lstat(path).st_mode))
        with open(path, 'rb') as file:
            file.seek(start)
            return file.read(length)
    except (OSError, ValueError):
        return b''


def read_lines(header):
    """The lines with their items, and whether the header is true of them; one of FAULTS where they are no lines."""
    part = read_file(header['path'], header['start'], header['length'] + 1)
    need(len(part) == header['length'] > 0 and hashlib.sha256(part).hexdigest() == header['sha256'])
    data = b''
    while part:
        unpacker = zlib.decompressobj(31)
        data += unpacker.decompress(part)
        need(unpacker.eof)
        part = unpacker.unused_data
    *lines, rest = data.decode('utf-8').split('\n')
    items = [parse(line) for line in lines]
    need(not rest and all('id' in item and depth(item) <= 100 for item in items))
    dates = sorted(item['created_at'] for item in items if millis(item.get('created_at')) is not None)
    ends = (dates[0], dates[-1]) if dates else (None, None)
    return list(zip(items, lines)), (header['count'], header['oldest'], header['newest']) == (len(lines), *ends)


def stored_form(value):
    """DynamoDB's own JSON with names in M and members of sets in order."""
    (kind, inner), = value.items()
    if kind == 'M':
        return {kind: {name: stored_form(inner[name]) for name in sorted(inner, key=units)}}
    in_order = sorted(inner, key=units) if kind in ('SS', 'NS', 'BS') else inner
    return {kind: list(map(stored_form, inner)) if kind == 'L' else in_order}


def attribute(name, value):
    (kind, inner), = value.items()
    if name == '__proto__' or kind == 'NULL':
        return None
    if kind == 'S' or kind == 'N' and PLAIN.fullmatch(inner) and abs(int(inner)) <= SAFE:
        return int(inner) if kind == 'N' else inner
    return stored_form(value)


def verify(folder, key_file, now_text, table_path):
    spki = openssl('pkey', '-pubin', '-in', key_file, '-outform', 'DER').stdout
    key_hash, now = hashlib.sha256(spki).hexdigest(), millis(now_text)
    names = filter(NAME.fullmatch, os.listdir(folder) if os.path.isdir(folder) else [])
    findings, good, empty, broken, altered, excused, true = set(), [], [], [], [], set(), {}
    for own, path in sorted((LAST - int(name[:10]), os.path.join(folder, name)) for name in names):  # rule 1
        try:
            good.append(read_header(path, own, key_file, key_hash))
        except FAULTS:
            findings.add((1, own)) if read_file(path, 0, 1) else empty.append(own)
    kept = [(header['at'], header['archive_days']) for header in good]
    ends = [millis(at) - days * DAY for at, days in kept + [(now_text, days) for _, days in kept[-1:]] if days]
    left = iso(max(ends)) if ends else ''
    before = None
    for header in good:  # rules 2 to 4
        if header['previous'] != before:
            broken.append(header)
            is_excused = header['from'] != '' and units(header['from']) <= units(left)
            (excused if is_excused else findings).add((2, header['number']))
        before = header['hash']
        try:
            lines, is_true = read_lines(header)
        except FAULTS:
            lines, is_true = [], False
        if not is_true:
            findings.add((3, header['number']))
            altered.append(header)
        for value, line in lines:
            subject = text_of(value['id'])
            if true.setdefault(subject, (value, line))[1] != line:
                findings.add((4, subject))
    for own in empty:
        if (2, next((header['number'] for header in good if header['number'] > own), None)) not in excused:
            findings.add((1, own))
    counts = check_table(table_path, true, good, (broken, altered), now, findings)
    findings = sorted(findings, key=lambda pair: (pair[0], str(pair[1])))
    return {'findings': findings, 'good': [header['number'] for header in good], **counts}


def check_table(table_path, true, good, faulty, now, findings):
    with open(table_path, encoding='utf-8', newline='\n') as file:
        items = [{name: attribute(name, raw[name]) for name in sorted(raw, key=units)}
                 for raw in (json.loads(line) for line in file if line.strip())]
    ids = {text_of(item.get('id')) for item in items}
    for subject, (value, _) in true.items():  # rule 6
        created, expires = millis(value.get('created_at')), value.get('expires_at')
        if subject not in ids and not (created is not None and type(expires) is int and expires * 1000 <= now
                                       and expires * 1000 - created > 30 * DAY - 1000):
            findings.add((6, subject))
    interval = good[-1]['interval'] * 1000 if good else MINUTE
    closed = iso(now - min(interval, MINUTE))
    begin = next((header['until'] for header in reversed(good) if units(header['until']) <= units(closed)), '')
    since = millis(begin[:24])
    look = '' if since is None else iso(since - max(6 * interval, 10 * MINUTE))

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

    counts, listed = {'waiting': 0, 'unproven': 0}, set()
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
    return counts


for case in sys.stdin:
    print(json.dumps(verify(*json.loads(case))))
