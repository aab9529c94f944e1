"""Checks the doc comments of Sources and TestTools, and the words of comments and documents.

- A public declaration and a public protocol's requirement have a doc comment. None is needed for a member that its
  protocol documents, for `init() {}`, for an initialiser whose parameters are documented properties, and for cases.
- A doc comment of what throws names the errors: `- Throws:`, "throws", or the type that is thrown.
- No comment and no document contains a word of Tools/retired.txt.

Tools/comments_test.py tests it.
"""

import pathlib
import re
import subprocess
import sys

# The members that the standard library's protocols require, and document.
STANDARD = {
    "CustomStringConvertible": "description", "Hashable": "hash(into:) ==", "Equatable": "==", "Comparable": "<", "Encodable": "encode(to:)",
    "Codable": "init(from:) encode(to:)", "Decodable": "init(from:)", "RandomAccessCollection": "startIndex endIndex subscript(index:)",
    "RawRepresentable": "rawValue init(rawValue:)", "OptionSet": "rawValue init(rawValue:)", "RandomNumberGenerator": "next()",
    "AsyncSequence": "makeAsyncIterator()", "AsyncIteratorProtocol": "next() next(isolation:)",
    **{f"ExpressibleBy{kind.title()}Literal": f"init({kind}Literal:)" for kind in ("string", "boolean", "integer", "float", "array", "dictionary")},
}
TYPES = {"class", "struct", "enum", "actor", "protocol", "extension"}
DECLARATION = re.compile(
    r"( *)(?:@\w+(?:\([^)]*\))? +)*((?:\w+(?:\(\w+\))? +)*?)"
    r"(class|struct|enum|actor|protocol|extension|func|init|var|let|subscript|typealias|associatedtype)\b *([^\s({:<]+|[<>=]+)?"
)


class Declaration:
    """One declaration: its key names it as Swift does, such as `write(_:at:)`."""

    def __init__(self, match, text, line, scope, comment):
        _, modifiers, self.kind, name = match.groups()
        self.line, self.scope, self.comment = line, scope, comment
        self.name = self.key = name or self.kind
        self.path = f"{scope.path}.{self.name}" if scope else self.name
        self.is_public = scope.is_public if scope and scope.kind == "protocol" else bool(re.search(r"\b(public|open)\b", modifiers))
        self.conforms = set(re.findall(r"\w+", text.partition("{")[0].partition(":")[2])) if self.kind in TYPES else set()
        self.is_empty = re.match(r".*\binit\(\) *\{ *\}", text) is not None
        tail = text.splitlines()[0].partition(" get ")[2]
        if self.kind in {"func", "init", "subscript"}:
            self.labels, tail = parameters(re.sub(r'"(\\.|[^"\\])*"', '""', text[match.end():]))
            if self.key[0] not in "<>=":
                self.key += f"({''.join(label + ':' for label in self.labels)})"
        thrown = re.match(r"\s*(?:async\s+)?throws\b(?:\((?:any )?([\w.]+)\))?", tail)
        self.thrown = (thrown[1] or "Error").split(".")[-1] if thrown else None


def parameters(text):
    """The labels of the parameters that the text has first, and what stands behind them."""
    depth, parts = 0, [""]
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == ")":
            return [part.split()[0].rstrip(":") for part in parts[1:] if part.strip()], text[place + 1:]
        if depth == 1 and character in "(,":
            parts.append("")
        else:
            parts[-1] += character
    return [], ""


def declarations(source):
    """The declarations of a formatted Swift file, which its indentation shows. Long strings are no code."""
    source = re.sub(r'"""\n.*?"""', lambda text: "\n" * text[0].count("\n"), source, flags=re.S)
    lines, scopes, comment = source.split("\n"), [], ""
    for number, line in enumerate(lines):
        match = DECLARATION.match(line)
        if not match or "//" in match[0]:
            if line.strip().startswith("///"):
                comment += line + "\n"
            elif not line.strip().startswith(("@", "#if", "//")):
                comment = ""
            continue
        while scopes and scopes[-1][0] >= len(match[1]):
            scopes.pop()
        if not scopes or scopes[-1][1].kind in TYPES:
            found = Declaration(match, "\n".join(lines[number:number + 25]), number + 1, scopes[-1][1] if scopes else None, comment)
            yield found
            scopes.append((len(match[1]), found))
        comment = ""


def reach(path, conforms):
    """A type's path, and the protocols that it conforms to, directly or because of another."""
    found = [path]
    for name in found:
        found += conforms.get(name, set()) - set(found)
    return found


def faults(sources):
    """What is wrong in the comments of files, given as their texts by name."""
    found = {file: list(declarations(text)) for file, text in sources.items()}
    everything = [one for members in found.values() for one in members]
    properties = {one.path for one in everything if one.kind in {"var", "let"} and one.scope and one.comment}
    conforms, documented = {}, {protocol: set(members.split()) for protocol, members in STANDARD.items()}
    for one in everything:
        if one.kind in TYPES:
            conforms.setdefault(one.path, set()).update(one.conforms)
        if one.comment and one.scope and one.scope.kind == "protocol":
            documented.setdefault(one.scope.name, set()).add(one.key)
    for file, members in found.items():
        for one in members:
            member = one.scope and one.scope.kind != "protocol"
            inherited = member and any(one.key in documented.get(name, ()) for name in reach(one.scope.path, conforms))
            if not one.is_public or one.kind == "extension" or inherited:
                continue
            if one.comment:
                if one.thrown and not re.search(rf"\b[Tt]hrow(s|n|ing)?\b|\b{one.thrown}\b", one.comment):
                    yield f"{file}:{one.line}: {one.key} throws, and its doc comment names no error"
            elif one.thrown or one.kind != "init" or not (one.labels or one.is_empty) or {f"{one.scope.path}.{label}" for label in one.labels} - properties:
                yield f"{file}:{one.line}: {one.key} has no doc comment"


def comments(file, source):
    """What people read of a file: its comments, or a document without its code. All other lines are empty."""
    if file.endswith(".md"):
        source = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), source, flags=re.M | re.S)
    else:
        source = "\n".join(found[1] if (found := re.search(r"(?:^|\s)//+(.*)", line)) else "" for line in source.split("\n"))
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^[ \t]+", "", source, flags=re.M))


def retired(sources, words):
    """Where files contain words of the list, given as `pattern => better # reason` lines."""
    texts = {file: comments(file, source) for file, source in sources.items()}
    for word in re.findall(r"^[^#].*$", words, flags=re.M):
        pattern, better, reason = re.match("(.*) => (.*) # (.*)", word).groups()
        for file, text in texts.items():
            for found in re.finditer(pattern.replace(" ", "[ \n]"), text, re.I):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{file}:{line}: '{' '.join(found[0].split())}': write {better} ({reason})"


def main():
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "Sources/*.swift", "TestTools/*.swift"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    texts = {name: pathlib.Path(name).read_text() for name in names if pathlib.Path(name).exists()}
    words = pathlib.Path(__file__).with_name("retired.txt").read_text()
    problems = [*faults({name: text for name, text in texts.items() if name.endswith(".swift")}), *retired(texts, words)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
