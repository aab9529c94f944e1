import CommandLine
import Glibc
import Ingest
import ScreenRelayKit
import Signalling
import Synchronization

/// What `share` and `host` tell on standard output: the links, their QR code, who comes and who leaves; with `--json` the same for
/// programs, an object a line.
final class SharingNews: Sendable {
    static let options = [
        Option(
            long: "json",
            help:
                "for programs: on standard output a JSON object a line, with an event of started, came, left, state, "
                + "expired, missing or ended (Protocol/control.md)"),
        Option(long: "qr", help: "print the link as a QR code, also where that would not be done by itself"),
        Option(
            long: "no-qr",
            help:
                "print no QR code; without either, one is printed to a terminal where other machines can reach the link"
        ),
    ]
    static let alternatives = [["qr", "no-qr"]]

    private struct State {
        /// Who watches, by room.
        var watching: [String: Set<String>] = [:]
        /// Whether the links are out: news before that waits.
        var hasStarted = false
        /// Whether people have seen enough: that all leave at the end is no news.
        var isQuiet = false
        var early: [String] = []
        /// Who tells those that read events over `/api`.
        weak var host: ScreenRelayHost?
    }

    private let isJSON: Bool
    /// Whether those who present are told of as well.
    let tellsPresenters: Bool
    private let code: CodeChoice
    private let output: LineWriter
    private let state = Mutex(State())

    /// What somebody asks to be told, and how.
    struct Style {
        fileprivate let isJSON: Bool
        fileprivate let code: CodeChoice
        fileprivate let tellsPresenters: Bool

        /// As the options say.
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

    /// News as they are asked for.
    init(_ style: Style) {
        let isJSON = style.isJSON
        self.isJSON = isJSON
        tellsPresenters = style.tellsPresenters
        code = style.code
        let hasFailed = Mutex(false)
        output = LineWriter(
            descriptor: 1,
            onFailure: { failure, hasBegun in
                // A reader that has the link and wants no more is no error.
                guard failure != EPIPE || !hasBegun else { return }
                let isNews = hasFailed.withLock { hasFailed in
                    defer { hasFailed = true }
                    return !hasFailed
                }
                guard isNews else { return }
                StandardStreams.printError(
                    "standard output: \(String(cString: strerror(failure))); sharing goes on", program: Program.name)
            },
            missingLine: { count in
                isJSON ? Self.event("missing", [("lines", "\(count)")]) : "(\(count) lines are missing here)"
            })
    }

    /// The links are good: says so. For people `introduction` stands in front, and `more` behind them. The journal gets none of the
    /// links and nothing of `more`: there is a token in them.
    func started(_ host: ScreenRelayHost, _ introduction: String, more: [String] = []) {
        let links = host.linksDocument(tellsPresenters: tellsPresenters)
        let event = String(Self.event("started", []).dropLast() + "," + links.json.dropFirst())
        let lines: [String]
        if StandardStreams.outputIsJournal {
            lines = [
                isJSON
                    ? Self.event("started", [("links", "[]"), ("room", quoted(host.room)), ("rooms", "[]")])
                    : "\(introduction) The link is not written to the journal: 'screenrelay link' prints it."
            ]
        } else {
            lines = isJSON ? [event] : [introduction] + links.lines + more + code.lines(for: host.link)
        }
        host.tell(event: event)
        // In one piece with what has come before: nothing may come between.
        state.withLock { state in
            state.hasStarted = true
            output.write(lines + state.early)
            state.early = []
        }
    }

    /// Has `host` tell the same events to those that read them over `/api`.
    func tellAlso(by host: ScreenRelayHost) { state.withLock { $0.host = host } }

    /// Somebody has come or left. Any thread; doesn't block.
    func tell(_ news: RoomNews) {
        state.withLock { state in
            var watching = state.watching[news.room] ?? []
            let isWatching = news.who.kind != .publisher
            switch news.change {
            case .came: if isWatching { watching.insert(news.who.id) }
            case .left: watching.remove(news.who.id)
            }
            state.watching[news.room] = watching.isEmpty ? nil : watching
            tell(json(news, watching.count), orWords: words(news, watching.count), &state)
        }
    }

    /// The source of a track does something else. Any thread; doesn't block.
    func tell(_ source: Ingest.SourceState, room: String, track: String = ScreenRelayHost.firstTrackName) {
        let event = Self.event(
            "state", [("room", quoted(room)), ("track", quoted(track)), ("state", quoted(source.word))])
        state.withLock { tell(event, orWords: nil, &$0) }
    }

    /// The links of a room have expired. Any thread; doesn't block.
    func tellExpiry(of room: String) {
        let words = "\(WallClock.now.timeOfDay) the links of the room \(room) have expired"
        state.withLock { tell(Self.event("expired", [("room", quoted(room))]), orWords: words, &$0) }
    }

    /// The end has begun: everybody will leave.
    func ending() { state.withLock { $0.isQuiet = !isJSON } }

    /// All is over, with that exit code; waits until it is written, but not for long.
    func ended(_ code: Int32) {
        if isJSON {
            state.withLock { state in
                if state.hasStarted { output.write(Self.event("ended", [("exitCode", "\(code)")])) }
            }
        }
        output.flush()
    }

    /// Tells an event to who reads events; people read `words`, or nothing.
    private func tell(_ event: String, orWords words: String?, _ state: inout State) {
        state.host?.tell(event: event)
        guard let line = isJSON ? event : words, !state.isQuiet else { return }
        if state.hasStarted { output.write(line) } else if state.early.count < 1000 { state.early.append(line) }
    }

    private func words(_ news: RoomNews, _ count: Int) -> String {
        let who = visitorWords(kind: news.who.kind.rawValue, name: news.who.name, address: news.who.address)
        return "\(WallClock.now.timeOfDay) \(who) \(news.change.rawValue); \(count) \(count == 1 ? "watches" : "watch")"
    }

    private func json(_ news: RoomNews, _ count: Int) -> String {
        var fields = [
            ("room", quoted(news.room)), ("id", quoted(news.who.id)), ("kind", quoted(news.who.kind.rawValue)),
            ("address", quoted(news.who.address)),
        ]
        if let name = news.who.name { fields.append(("name", quoted(name))) }
        return Self.event(news.change.rawValue, fields + [("watching", "\(count)")])
    }

    private static func event(_ name: String, _ fields: [(String, String)]) -> String {
        object([("event", quoted(name)), ("time", quoted(WallClock.now.timestamp))] + fields)
    }
}
