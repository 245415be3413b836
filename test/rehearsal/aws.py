"""Calls operations of AWS: a line of JSON on standard input is a request, a line on standard output its response."""

import base64
import io
import json
import sys
import zipfile

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

session = botocore.session.get_session()
# An operation that takes minutes, such as an invocation of the sealer, is waited for.
config = Config(read_timeout=900, connect_timeout=10)
clients = {}


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            # Lambda must be able to read it.
            archive.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


def prepared(value):
    if isinstance(value, list):
        return [prepared(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "$zip" in value:
        return zipped(value["$zip"])
    return {name: prepared(each) for name, each in value.items()}


def plain(value):
    if hasattr(value, "read"):
        return value.read().decode()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def call(service, operation, arguments):
    client = clients.get(service) or session.create_client(service, config=config)
    clients[service] = client
    if client.can_paginate(operation):
        seen = []
        event = f"after-call.{client.meta.service_model.service_id.hyphenize()}"
        client.meta.events.register_first(event, lambda parsed, **_: seen.append(parsed), event)
        response = client.get_paginator(operation).paginate(**arguments).build_full_result()
        client.meta.events.unregister(event, unique_id=event)
        return response, seen[-1].get("ResponseMetadata", {}) if seen else {}
    response = getattr(client, operation)(**arguments)
    return response, response.pop("ResponseMetadata", {})


for line in sys.stdin:
    service, operation, arguments = json.loads(line)
    try:
        response, metadata = call(service, operation, prepared(arguments))
        answer = {"response": response, "requestId": metadata.get("RequestId")}
    except ClientError as error:
        found = error.response["Error"]
        metadata = error.response.get("ResponseMetadata", {})
        answer = {"error": found.get("Code"), "message": found.get("Message"), "requestId": metadata.get("RequestId")}
    except Exception as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(answer, default=plain), flush=True)
