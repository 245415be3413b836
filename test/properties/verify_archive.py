"""Verifies archives of sealed audit entries by lib/seal/README.md alone.

Usage: verify_archive.py PUBLIC_KEY TIME FOLDER..., one line for each folder: intact, or what is wrong.
TIME, in seconds since 1970, is when what the table has was read.
A file table.ndjson in a folder has the lines of the entries that are in the table.
"""

import datetime
import gzip
import hashlib
import json
import pathlib
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

BEGINNING = "0000-01-01T00:00:00.000Z"
DIGEST = re.compile(rb'(\{.*),"signature":"([0-9a-f]{128})"\}\n', re.DOTALL)
LATE = ',"late":true}'
LEAST_RETENTION = 30 * 86_400


class Broken(Exception):
    """The trail is not what was sealed."""


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def require(holds, problem):
    if not holds:
        raise Broken(problem)


def read_digest(file, key):
    content = file.read_bytes()
    match = DIGEST.fullmatch(content)
    require(match, f"{file.name} is unreadable")
    unsigned = match[1] + b"}"
    try:
        key.verify(bytes.fromhex(match[2].decode()), hashlib.sha256(unsigned).digest())
    except InvalidSignature:
        raise Broken(f"{file.name} is wrongly signed") from None
    return json.loads(unsigned), match[2].decode(), sha256(content)


def read_lines(folder, digest):
    entries = digest["entries"]
    file = folder / entries["file"]
    require(file.exists(), f"{file.name} is missing")
    content = file.read_bytes()
    require(sha256(content) == entries["sha256"], f"{file.name} is changed")
    lines = gzip.decompress(content).decode().split("\n")[:-1]
    require(len(lines) == entries["count"], f"{file.name} has other entries")
    for line in lines:
        is_within = digest["from"] <= str(json.loads(line).get("created_at")) < digest["until"]
        require(is_within or line.endswith(LATE), f"{file.name} has an entry of another window")
    return [line[: -len(LATE)] + "}" if line.endswith(LATE) else line for line in lines]


def walk(folder, key):
    """The lines of all windows, and the last digest."""
    until, previous, sealed, digest = BEGINNING, None, [], None
    for file in sorted(folder.glob("*.digest.json")):
        digest, signature, checksum = read_digest(file, key)
        name = re.sub("[-:.]", "", digest["from"]) + ".digest.json"
        require(name == file.name, f"{file.name} is moved")
        require(digest["from"] == until, f"there is a gap or a fork before {file.name}")
        require(digest["previous"] == previous, f"{file.name} does not follow")
        until = digest["until"]
        previous = {"file": file.name, "sha256": checksum, "signature": signature}
        sealed += read_lines(folder, digest)
    require(digest, "there is no digest")
    return sealed, digest


def seconds_of(time):
    """Since 1970."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def is_timely(time, digest, now):
    """Whether the service may have written an entry of a time."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", str(time)):
        return False
    return seconds_of(time) <= now + min(60, digest["interval"])


def is_read_again(time, digest):
    """Whether an entry of a time may still be sealed, with the next window."""
    return seconds_of(time) >= seconds_of(digest["at"]) - max(6 * digest["interval"], 60)


def listed_by(entry):
    """What an entry lists as replayed."""
    if entry.get("action") != "CREATE" or entry.get("resource") != "audit-logs":
        return []
    try:
        return json.loads(entry["details"])["entries"]
    except (KeyError, TypeError, ValueError):
        return []


def replayed_after(digest, stored, now):
    """Hashes of lines that a replay lists which is not sealed yet, by id."""
    entries = map(json.loads, stored.values())
    timely = [entry for entry in entries if is_timely(entry.get("created_at"), digest, now)]
    recent = [entry for entry in timely if entry["created_at"] >= digest["until"]]
    return {each["id"]: each["sha256"] for entry in recent for each in listed_by(entry)}


def has_expired(entry, now):
    """Whether an entry may have left the table by then."""
    expires_at = entry["beside"].get("expires_at")
    created_at = seconds_of(entry["created_at"])
    return isinstance(expires_at, int) and created_at - 1 + LEAST_RETENTION < expires_at <= now


def compare(sealed, digest, table, now):
    by_id = {}
    for line in sealed:
        require(by_id.setdefault(json.loads(line)["id"], line) == line, "an entry was sealed twice")
    stored = {json.loads(line)["id"]: line for line in table.read_text().split("\n")[:-1]}
    for entry, line in by_id.items():
        has_left = entry not in stored and has_expired(json.loads(line), now)
        require(has_left or stored.get(entry) == line, f"{entry} is changed or deleted")
    replayed = replayed_after(digest, stored, now)
    for entry in stored.keys() - by_id.keys():
        time = json.loads(stored[entry]).get("created_at")
        require(is_timely(time, digest, now), f"{entry} is inserted")
        is_replayed = replayed.get(entry) == sha256(stored[entry].encode())
        require(is_replayed or is_read_again(time, digest), f"{entry} is inserted")


def verify(folder, key, now):
    try:
        sealed, digest = walk(folder, key)
        table = folder / "table.ndjson"
        if table.exists():
            compare(sealed, digest, table, now)
    except Broken as problem:
        return str(problem)
    return "intact"


public_key = load_pem_public_key(pathlib.Path(sys.argv[1]).read_bytes())
for argument in sys.argv[3:]:
    print(verify(pathlib.Path(argument), public_key, int(sys.argv[2])))
