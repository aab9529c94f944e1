"""Tests Tools/comments.py: each kind of fault is found in samples, and nothing else is."""

from comments import faults, retired

SAMPLE = """
/// A protocol.
public protocol Source {
    /// Documented here. Throws `SourceError`.
    func read(_ count: Int) throws(SourceError)
    func end()
    /// Documented, but not what goes wrong.
    func close() throws
}
/// A file.
public struct File: Source, CustomStringConvertible {
    /// Its path.
    public var path: String
    public init(path: String) { self.path = path }
    public init(from path: String) { self.path = path }
    public func read(_ count: Int) throws(SourceError) {}
    // Not a doc comment.
    @discardableResult
    public func read(all: Bool) {}
    public var description: String { path }
    /// Writes `bytes`.
    @discardableResult
    public func write(
        _ bytes: [UInt8], at offset: Int = 0, body: (Int) throws -> Void
    ) throws(FileError) -> Int { 0 }
    /// Flushes. The error is a ``FileError``.
    public func flush() throws(FileError) {}
    /// Its size.
    public var size: Int { get throws(FileError) { 0 } }
    func note() {
        let public = 1
    }
}
"""
FAULTS = [
    "6: end() has no doc comment", "8: close() throws, and its doc comment names no error", "15: init(from:) has no doc comment", "19: read(all:) has no doc comment",
    "23: write(_:at:body:) throws, and its doc comment names no error", "29: size throws, and its doc comment names no error",
]
WORDS = {
    "a.swift": "let anew = 1 // done anew\n/// once\n/// more\n/// `anew`\n\n/// once\n\n/// more",
    "b.md": "Whole, once more.\n```sh\nanew\n```\n",
}
RETIRED = "# A list\nanew => again # old\nonce more => again # long"
FOUND = ["a.swift:1: 'anew': write again (old)", "a.swift:2: 'once more': write again (long)", "b.md:1: 'once more': write again (long)"]

for found, expected in (faults({"x": SAMPLE}), [f"x:{fault}" for fault in FAULTS]), (retired(WORDS, RETIRED), FOUND):
    found = list(found)
    if found != expected:
        raise SystemExit("comments_test: found\n" + "\n".join(found) + "\nand not\n" + "\n".join(expected))
