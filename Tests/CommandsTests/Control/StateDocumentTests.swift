import CommandLine
import Foundation
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@testable import Commands

/// Golden files: the text for people and the JSON for programs of each of ``StateDocuments``, in `States`.
///
/// With SCREENRELAY_WRITE_STATES set, the test writes the files instead of comparing them.
@Suite("What people and programs read of a host's state")
struct StateDocumentTests {
    private static let folder = packageRoot + "/Tests/CommandsTests/States"

    private struct Rendered {
        let name: String
        let text: String
        let json: String
    }

    /// Compares with `States/FILE.txt`: a section for each state, with the text, a line of dashes and the JSON.
    private func compare(_ rendered: [Rendered], with file: String) throws {
        let path = "\(Self.folder)/\(file).txt"
        let sections = rendered.map { "== \($0.name)\n\($0.text)\n--\n\($0.json)\n" }
        if ProcessInfo.processInfo.environment["SCREENRELAY_WRITE_STATES"] != nil {
            try Data(sections.joined().utf8).write(to: URL(fileURLWithPath: path))
        }
        let golden = String(decoding: try fileBytes(path), as: UTF8.self)
        let known = golden.components(separatedBy: "\n== ").enumerated().map {
            $0.offset == 0 ? $0.element : "== \($0.element)"
        }
        #expect(known.count == sections.count)
        for (section, known) in zip(sections, known) {
            #expect(section.trimmingCharacters(in: .newlines) == known.trimmingCharacters(in: .newlines))
        }
    }

    /// The text without a time of this machine's zone.
    private func zoneless(_ text: String, _ time: Date?) -> String {
        guard let time else { return text }
        return text.replacing(WallClock(unixTime: Int(time.timeIntervalSince1970)).dateAndTime, with: "TIME")
    }

    @Test("status: every state reads as before, and is the same after a way as JSON")
    func status() throws {
        let all = StateDocuments.statuses
        for (name, document) in all { #expect(StatusDocument(json: document.json) == document, "\(name)") }
        try compare(
            all.map { name, document in
                Rendered(name: name, text: zoneless(StatusText(document).text, document.expires), json: document.json)
            }, with: "status")
    }

    @Test("push list: every state reads as before, and is the same after a way as JSON")
    func pushes() throws {
        let all = StateDocuments.pushes
        for (name, document) in all { #expect(PushesDocument(json: document.json) == document, "\(name)") }
        try compare(
            all.map { Rendered(name: $0, text: PushCommand.text(of: $1), json: $1.json) },
            with: "pushes")
    }

    @Test("rooms: every state reads as before, and is the same after a way as JSON")
    func rooms() throws {
        let all = StateDocuments.rooms
        for (name, document) in all { #expect(try RoomsDocument(json: document.json) == document, "\(name)") }
        try compare(
            all.map { Rendered(name: $0, text: RoomCommands.text(of: $1), json: $1.json) },
            with: "rooms")
    }

    @Test("link: every state reads as before, and is the same after a way as JSON")
    func links() throws {
        let all = StateDocuments.links
        for (name, document) in all { #expect(LinksDocument(json: document.json) == document, "\(name)") }
        try compare(
            all.map { name, document in
                let text = document.text(withCode: false)
                return Rendered(name: name, text: zoneless(text, document.expires), json: document.json)
            }, with: "link")
    }
}
