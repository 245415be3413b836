"""What schemathesis cannot know of the API."""

import schemathesis
from schemathesis import GenerationMode

ADMIN = 1


@schemathesis.hook
def before_call(context, case, kwargs):
    # A cursor is signed: none that is made up is valid, so a request that must succeed has none.
    if case.meta and case.meta.generation.mode == GenerationMode.POSITIVE and case.query:
        case.query.pop("cursor", None)
    # Without the admin, whose token this is, there would be no profile to get.
    if case.operation.label == "DELETE /api/users/{id}":
        if str(case.path_parameters.get("id")) == str(ADMIN):
            case.path_parameters["id"] = ADMIN + 2
