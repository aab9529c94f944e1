/// A command for a running host, over its control socket (`Protocol/control.md`) or `/api` (`Protocol/openapi.yaml`).
public enum ControlCommand: Hashable, Sendable {
    /// Show viewers nothing of the screen until `resume`.
    case pause
    /// Show the screen again.
    case resume
    /// Mute the sound for viewers until `unmute`.
    case mute
    /// Unmute the sound.
    case unmute
    /// Leave the microphone out of the sound, or include it again.
    case muteMicrophone
    case unmuteMicrophone
    /// Shut down in an orderly way.
    case stop
    /// Describe the host's state for programs, as one JSON object.
    case status
    /// Encode static parts of the screen with higher quality than usual.
    case sharpen
    /// Limit the frame rate and the bit rate.
    case rate(RateChange)
    /// List the rooms and the people in them for programs, as one JSON object (``RoomsDocument``).
    case rooms
    /// List the links for programs, as one JSON object (`GET /api/link`).
    case link
    /// Remove the member with this identifier.
    case remove(String)
    /// Decide about the turn to present of the member with this identifier. `seconds` is how long an allowed turn may
    /// last, 1 to 31 536 000; nil means until another decision.
    case present(TurnDecision, String, seconds: Int? = nil)
    /// Allow viewers to point at the pictures, or forbid it.
    case pointing(Bool)
    /// Allow viewers to write in the chat, or forbid it and forget all messages.
    case chat(Bool)
    /// Lock the room of this name, so that newcomers are refused, or unlock it; all rooms if the name is nil.
    case lock(Bool, room: String?)
    /// Decide about the client with this identifier, which waits to be let in, or about all of them if it is nil.
    case entry(EntryDecision, String?)
    /// Do something with the pushes.
    case push(PushOrder)

    /// An operation on pushes.
    public enum PushOrder: Hashable, Sendable {
        /// List them for programs, as one JSON object.
        case list
        /// Push to this URL, which may have a key, with the preset of `--preset`.
        case add(url: String, preset: String?)
        /// Stop or restart the push with this number.
        case stop(Int)
        case restart(Int)
        /// Give the push with this number the preset of `--preset`; with nil, it passes the frames on as they are.
        case reload(Int, preset: String?)
    }

    /// A change of a source's highest frame rate and bit rate.
    public struct RateChange: Hashable, Sendable {
        /// The limit in frames per second, 1 to 120. Nil leaves it as it is.
        public let framesPerSecond: Limit?
        /// The limit in bits per second, 10 000 to 1 000 000 000. Nil leaves it as it is.
        public let bitsPerSecond: Limit?

        /// The new value of one limit.
        public enum Limit: Hashable, Sendable {
            /// At most this many.
            case atMost(Int)
            /// As many as the capture was started with.
            case unlimited
        }

        /// A change of at least one of these limits. Nil if none is given, or one is out of range.
        public init?(framesPerSecond: Limit? = nil, bitsPerSecond: Limit? = nil) {
            guard framesPerSecond != nil || bitsPerSecond != nil,
                framesPerSecond?.isIn(Self.frames) != false, bitsPerSecond?.isIn(Self.bits) != false
            else { return nil }
            self.framesPerSecond = framesPerSecond
            self.bitsPerSecond = bitsPerSecond
        }
    }
}

extension ControlCommand {
    /// The list of commands, for the answer to an unknown one.
    package static let usage =
        "pause, resume, mute, mute mic, unmute, unmute mic, stop, status, sharpen, rate fps=N bitrate=N, "
        + "rooms, link, remove ID, present allow ID SECONDS, present decline ID, present end ID, "
        + "pointing on, pointing off, chat on, chat off, lock ROOM, unlock ROOM, "
        + "admit ID, admit all, refuse ID, refuse all, "
        + "push list, push add URL PRESET, push stop N, push restart N, push reload N PRESET"

    /// Parses a line of the control socket, without its line feed. Nil if it is not a command.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "pause" where words.count == 1: self = .pause
        case "resume" where words.count == 1: self = .resume
        case "mute" where words.count == 1: self = .mute
        case "unmute" where words.count == 1: self = .unmute
        case "mute" where words.dropFirst() == ["mic"]: self = .muteMicrophone
        case "unmute" where words.dropFirst() == ["mic"]: self = .unmuteMicrophone
        case "stop" where words.count == 1: self = .stop
        case "status" where words.count == 1: self = .status
        case "sharpen" where words.count == 1: self = .sharpen
        case "rooms" where words.count == 1: self = .rooms
        case "link" where words.count == 1: self = .link
        case "remove" where words.count == 2 && !words[1].isEmpty: self = .remove(String(words[1]))
        case "present" where words.count == 3 && !words[2].isEmpty:
            guard let decision = TurnDecision(rawValue: String(words[1])) else { return nil }
            self = .present(decision, String(words[2]))
        case "present" where words.count == 4 && words[1] == "allow" && !words[2].isEmpty:
            guard let seconds = TurnDecision.seconds(words[3]) else { return nil }
            self = .present(.allow, String(words[2]), seconds: seconds)
        case "pointing" where words.count == 2 && (words[1] == "on" || words[1] == "off"):
            self = .pointing(words[1] == "on")
        case "chat" where words.count == 2 && (words[1] == "on" || words[1] == "off"):
            self = .chat(words[1] == "on")
        case "lock" where words.count == 1, "unlock" where words.count == 1:
            self = .lock(words[0] == "lock", room: nil)
        case "lock" where words.count == 2 && !words[1].isEmpty, "unlock" where words.count == 2 && !words[1].isEmpty:
            self = .lock(words[0] == "lock", room: String(words[1]))
        case "admit" where words.count == 2 && !words[1].isEmpty, "refuse" where words.count == 2 && !words[1].isEmpty:
            // Identifiers are UUIDs.
            self = .entry(words[0] == "admit" ? .admit : .refuse, words[1] == "all" ? nil : String(words[1]))
        case "push":
            guard let order = PushOrder(words: words.dropFirst().map(String.init)) else { return nil }
            self = .push(order)
        case "rate":
            guard let change = RateChange(words: words.dropFirst()) else { return nil }
            self = .rate(change)
        default: return nil
        }
    }

    /// The command as it is written on the socket, without the line feed.
    package var line: String {
        switch self {
        case .pause: "pause"
        case .resume: "resume"
        case .mute: "mute"
        case .unmute: "unmute"
        case .muteMicrophone: "mute mic"
        case .unmuteMicrophone: "unmute mic"
        case .stop: "stop"
        case .status: "status"
        case .sharpen: "sharpen"
        case .rate(let change): "rate" + change.words
        case .rooms: "rooms"
        case .link: "link"
        case .remove(let member): "remove \(member)"
        case .present(let decision, let member, let seconds):
            "present \(decision.rawValue) \(member)" + (seconds.map { " \($0)" } ?? "")
        case .pointing(let isAllowed): "pointing \(isAllowed ? "on" : "off")"
        case .chat(let isAllowed): "chat \(isAllowed ? "on" : "off")"
        case .lock(let isLocked, let room): (isLocked ? "lock" : "unlock") + (room.map { " \($0)" } ?? "")
        case .entry(let decision, let client): "\(decision.rawValue) \(client ?? "all")"
        case .push(let order): "push \(order.words)"
        }
    }

    /// The command's line for a log, which must not have a push's key.
    package var lineWithoutSecrets: String {
        if case .push(.add) = self { return "push add ..." }
        return line
    }
}

extension ControlCommand.PushOrder {
    /// Parses `list`, `add URL`, `add URL PRESET`, `stop N`, `restart N`, `reload N` and `reload N PRESET`.
    fileprivate init?(words: [String]) {
        guard words.allSatisfy(Self.isWord) else { return nil }
        switch (words.first, words.count) {
        case ("list", 1): self = .list
        case ("add", 2): self = .add(url: words[1], preset: nil)
        case ("add", 3): self = .add(url: words[1], preset: words[2])
        case ("stop", 2):
            guard let number = Self.number(words[1]) else { return nil }
            self = .stop(number)
        case ("restart", 2):
            guard let number = Self.number(words[1]) else { return nil }
            self = .restart(number)
        case ("reload", 2...3):
            guard let number = Self.number(words[1]) else { return nil }
            self = .reload(number, preset: words.count == 3 ? words[2] : nil)
        default: return nil
        }
    }

    /// Whether a URL or a preset may be this text: not empty, without spaces and control characters. On a line, a space
    /// would make a part of a URL, such as its key, another word.
    static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// The number of a push in its only spelling. Nil if no push may have it.
    static func number(_ text: String) -> Int? {
        guard let number = Int(text), "\(number)" == text, number > 0 else { return nil }
        return number
    }

    fileprivate var words: String {
        switch self {
        case .list: "list"
        case .add(let url, let preset): "add \(url)" + (preset.map { " \($0)" } ?? "")
        case .stop(let number): "stop \(number)"
        case .restart(let number): "restart \(number)"
        case .reload(let number, let preset): "reload \(number)" + (preset.map { " \($0)" } ?? "")
        }
    }
}

extension ControlCommand.RateChange {
    private static let frames = 1...120
    private static let bits = 10_000...1_000_000_000

    /// Parses `fps=N` and `bitrate=N`: each at most once, at least one of them. N may be `max`.
    fileprivate init?(words: some Collection<Substring>) {
        var (frames, bits): (Limit?, Limit?) = (nil, nil)
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let limit = Limit(parts[1]) else { return nil }
            switch parts[0] {
            case "fps" where frames == nil: frames = limit
            case "bitrate" where bits == nil: bits = limit
            default: return nil
            }
        }
        self.init(framesPerSecond: frames, bitsPerSecond: bits)
    }

    fileprivate var words: String {
        (framesPerSecond.map { " fps=\($0.word)" } ?? "") + (bitsPerSecond.map { " bitrate=\($0.word)" } ?? "")
    }
}

extension ControlCommand.RateChange.Limit {
    fileprivate init?(_ text: Substring) {
        if text == "max" {
            self = .unlimited
            return
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return nil }
        self = .atMost(number)
    }

    fileprivate func isIn(_ range: ClosedRange<Int>) -> Bool {
        switch self {
        case .atMost(let number): range.contains(number)
        case .unlimited: true
        }
    }

    fileprivate var word: String {
        switch self {
        case .atMost(let number): "\(number)"
        case .unlimited: "max"
        }
    }
}
