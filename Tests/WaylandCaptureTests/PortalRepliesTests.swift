import MediaTypes
import SessionBus
import Testing

@testable import WaylandCapture

@Suite("The portal's answers")
struct PortalRepliesTests {
    private func properties(_ version: UInt32, _ sources: UInt32?, _ modes: UInt32?) -> [BusValue] {
        var entries: [String: BusValue] = ["version": .unsigned(version)]
        entries["AvailableSourceTypes"] = sources.map { BusValue.unsigned($0) }
        entries["AvailableCursorModes"] = modes.map { BusValue.unsigned($0) }
        return [.dictionary(entries)]
    }

    @Test("the best of the available cursor modes is chosen: metadata, embedded, hidden")
    func cursorModes() throws {
        let expected: [(UInt32, PortalCursorMode?)] = [
            (7, .metadata), (5, .metadata), (3, .embedded), (2, .embedded), (1, .hidden), (0, nil), (8, nil),
        ]
        for (available, mode) in expected {
            let found = try PortalProperties(properties(5, 1, available), wanted: .monitor)
            #expect(found.cursorMode == mode)
        }
    }

    @Test("of the available cursor modes, metadata is the last if the pointer is to be embedded")
    func embeddedPointer() throws {
        let expected: [(UInt32, PortalCursorMode?)] = [(7, .embedded), (5, .hidden), (4, .metadata), (0, nil)]
        for (available, mode) in expected {
            let found = try PortalProperties(properties(5, 1, available), wanted: .monitor, embedsPointer: true)
            #expect(found.cursorMode == mode)
        }
    }

    @Test("of the wanted sources, those that the desktop has are asked for")
    func sources() throws {
        let found = try PortalProperties(properties(4, 3, 7), wanted: [.window, .virtual])
        #expect(found.sources == .window)
        #expect(throws: PortalError.noSuchSource(.virtual, available: [.monitor, .window])) {
            _ = try PortalProperties(properties(4, 3, 7), wanted: .virtual)
        }
    }

    @Test("a portal without a backend, of an old version, or with other properties is refused by name")
    func unusable() {
        #expect(throws: PortalError.noBackend) { _ = try PortalProperties(properties(5, 0, 7), wanted: .monitor) }
        #expect(throws: PortalError.noBackend) { _ = try PortalProperties(properties(5, nil, 7), wanted: .monitor) }
        #expect(throws: PortalError.versionTooLow(3)) {
            _ = try PortalProperties(properties(3, 3, 7), wanted: .monitor)
        }
        let bad: [[BusValue]] = [
            [], [.other], [.dictionary([:])], [.dictionary(["version": .string("5")])], [.array([.unsigned(5)])],
        ]
        for answer in bad {
            #expect(throws: PortalError.malformed("version")) { _ = try PortalProperties(answer, wanted: .monitor) }
        }
    }

    @Test("a response is granted, cancelled or refused; one of another form is refused by name")
    func results() throws {
        let granted = try PortalReplies.results([.unsigned(0), .dictionary(["a": .boolean(true)])])
        #expect(granted == ["a": .boolean(true)])
        #expect(throws: PortalError.cancelled) { _ = try PortalReplies.results([.unsigned(1), .dictionary([:])]) }
        for code in [2, 3, UInt32.max] {
            #expect(throws: PortalError.refused) { _ = try PortalReplies.results([.unsigned(code)]) }
        }
        let withoutCode: [[BusValue]] = [[], [.string("0")], [.dictionary([:]), .unsigned(0)]]
        for signal in withoutCode {
            #expect(throws: PortalError.malformed("response")) { _ = try PortalReplies.results(signal) }
        }
        let withoutResults: [[BusValue]] = [[.unsigned(0)], [.unsigned(0), .array([])], [.unsigned(0), .other]]
        for signal in withoutResults {
            #expect(throws: PortalError.malformed("results")) { _ = try PortalReplies.results(signal) }
        }
    }

    @Test("a session's handle is a string or a path that begins with a slash")
    func session() throws {
        for handle in [BusValue.string("/a/b"), .path("/a/b")] {
            let path = try PortalReplies.session(["session_handle": handle])
            #expect(path == "/a/b")
        }
        let bad: [BusValue?] = [nil, .string(""), .string("a"), .unsigned(1), .other]
        for handle in bad {
            #expect(throws: PortalError.malformed("session_handle")) {
                _ = try PortalReplies.session(handle.map { ["session_handle": $0] } ?? [:])
            }
        }
    }

    private func stream(_ properties: [String: BusValue]) throws -> PortalStream? {
        try PortalReplies.streams(["streams": .array([.structure([.unsigned(7), .dictionary(properties)])])]).first
    }

    @Test("a stream has a node; other properties are optional, and left out if they are of another form")
    func streams() throws {
        let full = try stream([
            "size": .structure([.signed(1280), .signed(720)]), "position": .structure([.signed(-5), .signed(6)]),
            "source_type": .unsigned(2), "mapping_id": .string("m"), "more": .other,
        ])
        #expect(
            full
                == PortalStream(
                    node: 7, size: PictureSize(width: 1280, height: 720), position: PortalStream.Position(x: -5, y: 6),
                    sourceType: .window, mappingID: "m"))
        let bare = PortalStream(node: 7)
        #expect(try stream([:]) == bare)
        #expect(try stream(["mapping_id": .unsigned(1), "source_type": .string("monitor")]) == bare)
        let sizes: [BusValue] = [
            .structure([.signed(0), .signed(720)]), .structure([.signed(1280), .signed(-1)]), .structure([]),
            .structure([.signed(1), .signed(2), .signed(3)]), .structure([.unsigned(1), .unsigned(2)]),
            .array([.signed(1280), .signed(720)]), .other,
        ]
        for size in sizes { #expect(try stream(["size": size]) == bare) }
        // Without properties.
        let short = try PortalReplies.streams(["streams": .array([.structure([.unsigned(7)])])])
        #expect(short == [bare])
    }

    @Test("an answer without streams, or with one without a node, is refused")
    func noStreams() {
        let bad: [BusValue?] = [
            nil, .array([]), .dictionary([:]), .unsigned(7), .array([.unsigned(7)]), .array([.structure([])]),
            .array([.structure([.string("7")])]), .array([.structure([.unsigned(.max), .dictionary([:])])]),
            .array([.structure([.unsigned(7)]), .other]),
        ]
        for value in bad {
            #expect(throws: PortalError.malformed("streams")) {
                _ = try PortalReplies.streams(value.map { ["streams": $0] } ?? [:])
            }
        }
    }

    @Test("a restore token is a short text without spaces")
    func restoreToken() {
        #expect(PortalReplies.restoreToken(["restore_token": .string("a-b")]) == "a-b")
        let bad: [BusValue] = [.string(""), .string("a b"), .string("a\nb"), .string("ä"), .unsigned(1)]
        for value in bad { #expect(PortalReplies.restoreToken(["restore_token": value]) == nil) }
        #expect(PortalReplies.restoreToken(["restore_token": .string(String(repeating: "a", count: 257))]) == nil)
        #expect(PortalReplies.restoreToken([:]) == nil)
    }

    @Test("every error is one line")
    func errors() {
        let errors: [PortalError] = [
            .noBus(code: 2), .noPortal, .noBackend, .versionTooLow(3), .noSuchSource(.virtual, available: .monitor),
            .noCompositor(path: "p"), .noPipeWire(path: "p"),
            .cancelled, .refused, .notRestored, .closed, .portalGone, .busGone,
            .timedOut(call: "Start"), .callFailed(call: "Start", error: "e"), .malformed("streams"),
            .tokenNotWritten(path: "p", code: 13), .system(call: "Start", code: 9),
        ]
        for error in errors { #expect(!error.description.isEmpty && !error.description.contains("\n")) }
        #expect(
            PortalError.noSuchSource(.virtual, available: [.monitor, .window]).description
                == "the desktop portal can't share this source (new monitor); it can share: monitor, window")
    }
}
