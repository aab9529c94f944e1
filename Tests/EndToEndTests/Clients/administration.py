"""Asks the administration's interface for things and holds every answer against its OpenAPI document.

usage: administration.py OPENAPI_FILE BASE_URL
Standard input: one request a line, a JSON object of method, path and headers. Standard output: an event `ready`, then for each
request an event `answer` with its status, its body, and the list `problems` of what the document says otherwise.
"""

import json
import re
import sys
import urllib.error
import urllib.request

import jsonschema
import yaml
from openapi_spec_validator import validate

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


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


def problems_of(document, method, path, status, headers, body):
    item = operation_for(document, path)
    if item is None:
        return [] if status in (401, 403, 404) else [f"{path} is not in the document, and is answered with {status}"]
    documented = {name for name in item if name in METHODS}
    if method.lower() not in documented:
        allowed = {name.strip().lower() for name in headers.get("Allow", "").split(",")}
        if status == 405 and allowed != documented:
            return [f"Allow says {sorted(allowed)}, the document {sorted(documented)}"]
        return [] if status in (401, 403, 405) else [f"{method} is not in the document, and is answered with {status}"]
    responses = item[method.lower()]["responses"]
    if str(status) not in responses:
        return [f"{status} is not in the document"]
    response = resolved(document, responses[str(status)])
    found = []
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


def errors(document, schema, value):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "components": document["components"]}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(value)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = yaml.safe_load(file)
    validate(document)
    print(json.dumps({"event": "ready"}), flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        request = urllib.request.Request(
            sys.argv[2] + wanted["path"], method=wanted["method"], headers=wanted.get("headers", {}))
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                status, headers, body = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            status, headers, body = answer.code, answer.headers, answer.read()
        problems = problems_of(document, wanted["method"], wanted["path"], status, headers, body)
        if any(name.lower().startswith("access-control-") for name in headers):
            problems.append("a CORS header")
        print(json.dumps({
            "event": "answer", "status": status, "problems": problems, "body": body.decode(),
        }), flush=True)


main()
