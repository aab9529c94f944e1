import ByteCoding
import CommandLine
import Glibc
import LockOrder
import MediaTypes
import Pushing
import ScreenRelayKit
import Signalling
import Threading

/// Writes the events of `share` and `host` to standard output: the links, their QR code, and who comes and leaves. With
/// `--json`, writes JSON objects for programs, one a line.
final class SharingNews: Sendable {
    static let options = [
        Option(
            long: "json",
            help:
                "for programs: print one JSON object per line, with the event started, knocked, came, left, chat, "
                + "state, sound, expired, push, join, missing or ended (Protocol/control.md)"),
        Option(long: "qr", help: "always print the invite link as a QR code"),
        Option(
            long: "no-qr",
            help:
                "never print a QR code; by default, it is printed to a terminal if other machines can open the invite "
                + "link"),
    ]
    static let alternatives = [["qr", "no-qr"]]

    private struct State {
        /// The viewers' identifiers, by room.
        var watching: [String: Set<String>] = [:]
        /// Whether the links were printed. Events before that are kept in `early`.
        var hasStarted = false
        /// Whether lines for people have stopped: at the end all participants leave, which is no news.
        var isQuiet = false
        var early: [String] = []
        /// The host that sends the events to clients of `/api`.
        weak var host: ScreenRelayHost?
    }

    private let isJSON: Bool
    /// Whether the links for presenting are printed too.
    let tellsPresenters: Bool
    private let code: CodeChoice
    private let output: LineWriter
    private let state = RankedMutex(State(), .sharingNews)

    /// The output that the user requested, and its form.
    struct Style {
        fileprivate let isJSON: Bool
        fileprivate let code: CodeChoice
        fileprivate let tellsPresenters: Bool

        /// Reads the options.
        init(_ options: ParsedOptions) throws(UsageError) {
            let isWanted = options.has("qr")
            if isWanted, let other = ["no-qr", "json"].first(where: { options.has($0) }) {
                throw UsageError("--qr and --\(other) can't go together; leave one out")
            }
            isJSON = options.has("json")
            tellsPresenters = options.has("presenters")
            code = isWanted ? .always : options.has("no-qr") || isJSON ? .never : .whereUseful
        }
    }

    /// Events in this style.
    init(_ style: Style) {
        let isJSON = style.isJSON
        self.isJSON = isJSON
        tellsPresenters = style.tellsPresenters
        code = style.code
        let hasFailed = Flag()
        output = LineWriter(
            descriptor: 1,
            onFailure: { failure, hasBegun in
                // A reader that has read the link and closes its end is no error.
                guard failure != EPIPE || !hasBegun else { return }
                if hasFailed.set() { return }
                StandardStreams.printError(
                    "standard output: \(String(cString: strerror(failure))); sharing continues", program: Program.name)
            },
            missingLine: { count in
                isJSON ? Self.event("missing") { $0.add("lines", count) } : "(\(count) lines are missing here)"
            })
    }

    /// Reports that the links are valid. People also get `introduction` before the links and `extraLines` after them.
    /// The journal gets neither the links nor `extraLines`, because they contain a token.
    func started(_ host: ScreenRelayHost, _ introduction: String, extraLines: [String] = []) {
        let links = host.linksDocument(tellsPresenters: tellsPresenters)
        let event = String(Self.event("started").dropLast() + "," + links.json.dropFirst())
        let lines: [String]
        if StandardStreams.outputIsJournal {
            lines = [
                isJSON
                    ? Self.event("started") {
                        $0.add("links", [String]())
                        $0.add("room", host.room)
                        $0.add("rooms", [String]())
                    }
                    : "\(introduction) The invite link is not written to the journal: 'screenrelay link' prints it."
            ]
        } else {
            lines = isJSON ? [event] : [introduction] + links.lines + extraLines + code.lines(for: host.link)
        }
        host.tell(event: event)
        // Written in one piece with the earlier events, so that no other line separates them.
        state.withLock { state in
            state.hasStarted = true
            output.write(lines + state.early)
            state.early = []
        }
    }

    /// Also sends the events to the clients of `host` that read them over `/api`.
    func tellAlso(by host: ScreenRelayHost) { state.withLock { $0.host = host } }

    /// Reports that a participant joined or left, or waits to be let in. Any thread; doesn't block.
    func tell(_ news: RoomNews) {
        state.withLock { state in
            var watching = state.watching[news.room] ?? []
            let isWatching = news.who.kind != .publisher
            switch news.change {
            case .came: if isWatching { watching.insert(news.who.id) }
            case .left: watching.remove(news.who.id)
            case .knocked: break
            }
            state.watching[news.room] = watching.isEmpty ? nil : watching
            tell(json(news, watching.count), orText: text(news, watching.count), &state)
        }
    }

    /// Reports to programs that a viewer has written in the chat. Any thread; doesn't block.
    func tell(_ news: ChatNews) {
        let event = Self.event("chat") {
            $0.add("room", news.room)
            $0.add("id", news.id)
            $0.add("name", news.name)
            $0.add("text", news.text)
        }
        state.withLock { tell(event, orText: nil, &$0) }
    }

    /// Reports that a track's source changed its state. Any thread; doesn't block.
    func tell(_ source: SourceState, room: String, track: String = ScreenRelayHost.firstTrackName) {
        let event = Self.event("state") {
            $0.add("room", room)
            $0.add("track", track)
            $0.add("state", source.word)
        }
        state.withLock { tell(event, orText: nil, &$0) }
    }

    /// Reports that the sharer has muted the sound, or unmuted it. Any thread; doesn't block.
    func tell(isMuted: Bool) {
        state.withLock { tell(Self.event("sound") { $0.add("muted", isMuted) }, orText: nil, &$0) }
    }

    /// Reports that a room's links have expired. Any thread; doesn't block.
    func tellExpiry(of room: String) {
        let text = "\(WallClock.now.timeOfDay) the invite links of the room \(room) have expired"
        state.withLock { tell(Self.event("expired") { $0.add("room", room) }, orText: text, &$0) }
    }

    /// Reports the state of a push; `reason` is the cause of a failure. Any thread; doesn't block.
    func tellPush(_ label: PushLabel, state name: String, text: String, reason: String?) {
        let event = Self.event("push") {
            $0.add("name", label.name)
            $0.add("track", label.track?.description)
            $0.add("to", label.target.description)
            $0.add("state", name)
            $0.add("reason", reason)
        }
        let line = "\(WallClock.now.timeOfDay) the push \(label) \(text)" + (reason.map { ": \($0)" } ?? "")
        state.withLock { tell(event, orText: line, &$0) }
    }

    /// Reports the state of a join. Any thread; doesn't block.
    func tellJoin(_ join: StatusDocument.Join) {
        let event = Self.event("join") {
            $0.add("to", join.to)
            $0.add("state", join.state)
            $0.add("members", join.members)
            $0.add("excluded", join.excluded)
            $0.add("reason", join.reason)
        }
        let line = "\(WallClock.now.timeOfDay) the join to \(join.to): \(join.text)"
        state.withLock { tell(event, orText: line, &$0) }
    }

    /// The host is about to end, and all participants will leave.
    func ending() { state.withLock { $0.isQuiet = !isJSON } }

    /// Reports the end with its exit code, and waits at most 1 s until everything is written.
    func ended(_ code: Int32) {
        if isJSON {
            state.withLock { state in
                if state.hasStarted { output.write(Self.event("ended") { $0.add("exitCode", code) }) }
            }
        }
        output.flush()
    }

    /// Sends an event to programs. People get `text`, or nothing if it is nil.
    private func tell(_ event: String, orText text: String?, _ state: inout State) {
        state.host?.tell(event: event)
        guard let line = isJSON ? event : text, !state.isQuiet else { return }
        if state.hasStarted { output.write(line) } else if state.early.count < 1000 { state.early.append(line) }
    }

    private func text(_ news: RoomNews, _ count: Int) -> String {
        let who = participantText(kind: news.who.kind.rawValue, name: news.who.name, address: news.who.address)
        if news.change == .knocked {
            // The name may be any text, so it isn't part of a command that people may copy.
            return "\(WallClock.now.timeOfDay) \(who) waits to be let in: screenrelay admit \(news.who.id)"
        }
        return "\(WallClock.now.timeOfDay) \(who) \(news.change.rawValue); \(count) \(count == 1 ? "watches" : "watch")"
    }

    private func json(_ news: RoomNews, _ count: Int) -> String {
        Self.event(news.change.rawValue) {
            $0.add("room", news.room)
            $0.add("id", news.who.id)
            $0.add("kind", news.who.kind.rawValue)
            $0.add("address", news.who.address)
            $0.add("name", news.who.name)
            $0.add("watching", count)
        }
    }

    private static func event(_ name: String, _ addFields: (inout JSONObject) -> Void = { _ in }) -> String {
        let object = JSONObject {
            $0.add("event", name)
            $0.add("time", WallClock.now.timestamp)
            addFields(&$0)
        }
        return object.text
    }
}
