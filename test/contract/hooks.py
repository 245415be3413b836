"""The rules of the API that schemathesis cannot know from its document."""

import itertools
import os
import re
import unicodedata

import schemathesis
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET

ADMIN = 1
# Users whom the test has made to be deleted in the admin's place, the last one first.
STAND_INS = iter(range(62, 2, -1))
TIMES = itertools.cycle(["2026-11-20", "2026-11-20T10:00:00.5+01:00"])
LIMITS = {"name": 100, "search": 100, "email": 191}
# The characters that String.prototype.trim removes.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def without_cursor(case):
    """A cursor is signed: none that is made up is valid."""
    if case.query:
        case.query.pop("cursor", None)


def audit_query_that_holds(case):
    """Obeys the rules that no schema has: times, addresses, 100 entries at most, no end before the start, `about` alone."""
    if not case.query or case.operation.label != "GET /api/admin/audit-logs":
        return
    for name in {"since", "until"} & case.query.keys():
        case.query[name] = next(TIMES)
    if "ipAddress" in case.query:
        case.query["ipAddress"] = "127.0.0.1"
    if "since" in case.query:
        case.query.pop("until", None)
    if {"userId", "resourceId"} & case.query.keys():
        case.query.pop("about", None)
    if "limit" in case.query:
        case.query["limit"] = min(int(case.query["limit"]), 100)


def without_forbidden_keys(value):
    """Refused at any depth, which a schema cannot say."""
    if isinstance(value, list):
        return [without_forbidden_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = value.keys() - {"__proto__", "constructor"}
    return {key: without_forbidden_keys(value[key]) for key in value if key in kept}


def sparing_the_admin(case):
    """Without the admin, whose token this is, there would be no profile to get."""
    if case.operation.label == "DELETE /api/users/{id}":
        if str(case.path_parameters.get("id")) == str(ADMIN):
            case.path_parameters["id"] = next(STAND_INS, ADMIN + 2)


def fields_of(case):
    """The body and the query, with the fields of names and addresses that they have."""
    for part in (case.body, case.query):
        if isinstance(part, dict):
            yield part, [name for name in LIMITS if isinstance(part.get(name), str)]


def too_long_without_white_space(case):
    """maxLength counts the white space around a text, which the service takes away first."""
    for part, names in fields_of(case):
        for name in names:
            value = part[name]
            if len(value) > LIMITS[name]:
                part[name] = value.strip(WHITE_SPACE).ljust(len(value), "x")


def text_that_no_schema_describes(case):
    """Of domains only those that DNS can have, and of white space only what JavaScript calls so."""
    for part, names in fields_of(case):
        for name in names:
            part[name] = re.sub("[\x1c-\x1f\x85]", " ", part[name])
        if "email" in names:
            local, at, domain = part["email"].rpartition("@")
            kept = "".join("x" if unicodedata.category(one) == "Cf" else one for one in local)
            part["email"] = kept + at + re.sub(r"[^\x00-\x7f]", "ü", domain.rstrip())


def role_that_counts(case):
    """Of a caller who is no admin, no role counts but `admin`, which is refused."""
    if os.environ["CALLER"] == "admin" or case.operation.label != "POST /api/users":
        return
    if isinstance(case.body, dict) and case.body.get("role") not in (None, "user"):
        case.body["role"] = "admin"


def file_that_is_there(case):
    """The names of the files of pages change with their content."""
    for page in ("docs", "console"):
        if case.operation.label == f"GET /{page}/{{file}}":
            case.path_parameters["file"] = os.environ[f"{page.upper()}_FILE"]


@schemathesis.deserializer("application/x-ndjson", "application/x-pem-file")
@schemathesis.deserializer("text/css", "text/csv", "text/html", "text/javascript")
def as_text(context, response):
    return response.text


@schemathesis.hook
def before_call(context, case, kwargs):
    # These requests must succeed.
    if case.meta and case.meta.generation.mode == GenerationMode.POSITIVE:
        without_cursor(case)
        audit_query_that_holds(case)
        file_that_is_there(case)
        text_that_no_schema_describes(case)
    # A missing body that is assigned counts as an invalid one, also where it may be missing.
    if case.body is not NOT_SET:
        case.body = without_forbidden_keys(case.body)
    role_that_counts(case)
    sparing_the_admin(case)
    too_long_without_white_space(case)
