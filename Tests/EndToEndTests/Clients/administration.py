"""Asks the administration's interface for things and holds every answer against its OpenAPI document.

usage: administration.py OPENAPI_FILE BASE_URL
Standard input: one request a line, a JSON object of method, path, headers, and perhaps a body, which is sent as JSON. Standard
output: an event `ready`, then for each request an event `answer` with its status, its body, and the list `problems` of what the
document says otherwise.

The method EVENTS opens a WebSocket, which is answered with an event `open`; each message is then an event `message`, with its
`problems` and the message itself under `told`, and the end an event `closed` with its code.
"""

import json
import re
import sys
import threading
import urllib.error
import urllib.request

import jsonschema
import yaml
from openapi_spec_validator import validate
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
JSON_TYPE = "application/json"


def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def resolved(document, node):
    while "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def operation_for(document, path):
    for template, item in document["paths"].items():
        pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
        if re.fullmatch(pattern, path):
            return item
    return None


def problems_of(document, wanted, status, headers, body):
    method, path = wanted["method"], wanted["path"]
    item = operation_for(document, path)
    if item is None:
        return [] if status in (401, 403, 404) else [f"{path} is not in the document, and is answered with {status}"]
    documented = {name for name in item if name in METHODS}
    if method.lower() not in documented:
        allowed = {name.strip().lower() for name in headers.get("Allow", "").split(",")}
        # The document says once that HEAD works wherever GET does.
        if status == 405 and allowed - {"head"} != documented:
            return [f"Allow says {sorted(allowed)}, the document {sorted(documented)}"]
        return [] if status in (401, 403, 405) else [f"{method} is not in the document, and is answered with {status}"]
    operation = item[method.lower()]
    if str(status) not in operation["responses"]:
        return [f"{status} is not in the document"]
    found = problems_of_request(document, operation, wanted, status)
    response = resolved(document, operation["responses"][str(status)])
    for name, header in response.get("headers", {}).items():
        if name not in headers:
            found.append(f"{name} is missing")
        else:
            found += errors(document, header["schema"], headers[name])
    content = response.get("content")
    if content is None:
        return found + ([f"a body of {len(body)} bytes"] if body else [])
    kind = headers.get("Content-Type", "")
    if kind not in content:
        return found + [f"the body is of type {kind}"]
    return found + errors(document, content[kind]["schema"], json.loads(body))


def problems_of_request(document, operation, wanted, status):
    """What the document takes must not be answered with 400, and what it doesn't take not with 200 or 201."""
    if "requestBody" not in operation or status not in (200, 201, 400):
        return []
    wrong = errors(document, operation["requestBody"]["content"][JSON_TYPE]["schema"], wanted.get("body"))
    if status != 400:
        return wrong
    return [] if wrong else ["the document takes this body"]


def errors(document, schema, value):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "components": document["components"]}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(value)]


def ask(document, base, wanted):
    headers = dict(wanted.get("headers", {}))
    data = None
    if "body" in wanted:
        data = json.dumps(wanted["body"]).encode()
        headers.setdefault("Content-Type", JSON_TYPE)
    request = urllib.request.Request(base + wanted["path"], data=data, method=wanted["method"], headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            status, headers, body = answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        status, headers, body = answer.code, answer.headers, answer.read()
    problems = problems_of(document, wanted, status, headers, body)
    if any(name.lower().startswith("access-control-") for name in headers):
        problems.append("a CORS header")
    say("answer", status=status, problems=problems, body=body.decode())


def read_events(document, base, wanted):
    url = "ws" + base.removeprefix("http") + wanted["path"]
    with connect(url, additional_headers=wanted.get("headers", {})) as socket:
        say("open")
        try:
            while True:
                told = json.loads(socket.recv())
                problems = errors(document, {"$ref": "#/components/schemas/Event"}, told)
                say("message", problems=problems, told=told)
        except ConnectionClosed as end:
            say("closed", code=end.rcvd.code if end.rcvd else None)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = yaml.safe_load(file)
    validate(document)
    say("ready")
    for line in sys.stdin:
        wanted = json.loads(line)
        if wanted["method"] == "EVENTS":
            threading.Thread(target=read_events, args=(document, sys.argv[2], wanted), daemon=True).start()
        else:
            ask(document, sys.argv[2], wanted)


main()
