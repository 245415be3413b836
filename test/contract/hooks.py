"""What schemathesis cannot know of the API from its document."""

import schemathesis
from schemathesis import GenerationMode

ADMIN = 1
LIMITS = {"name": 100, "email": 191}
# What String.prototype.trim takes away.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def without_cursor(case):
    """A cursor is signed: none that is made up is valid, so a request that must succeed has none."""
    if case.meta and case.meta.generation.mode == GenerationMode.POSITIVE and case.query:
        case.query.pop("cursor", None)


def sparing_the_admin(case):
    """Without the admin, whose token this is, there would be no profile to get."""
    if case.operation.label == "DELETE /api/users/{id}":
        if str(case.path_parameters.get("id")) == str(ADMIN):
            case.path_parameters["id"] = ADMIN + 2


def too_long_without_white_space(case):
    """maxLength counts the white space around a text, which the service takes away first."""
    if not isinstance(case.body, dict):
        return
    for field, limit in LIMITS.items():
        value = case.body.get(field)
        if isinstance(value, str) and len(value) > limit:
            case.body[field] = value.strip(WHITE_SPACE).ljust(len(value), "x")


@schemathesis.hook
def before_call(context, case, kwargs):
    without_cursor(case)
    sparing_the_admin(case)
    too_long_without_white_space(case)
