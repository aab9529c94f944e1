import CaptureLink
import Foundation
import Ingest
import MediaTypes
import RecordingFiles
import ScreenRelayKit
import TrackHub

/// A host's status, in words for people or as a JSON object for programs.
struct StatusReport {
    let process: Int32
    let state: SourceState
    /// What the host does, such as "sharing :0".
    let what: String
    let room: String
    let viewers: Int
    let limits: SourceLimits
    let capture: CaptureStatistics?
    /// The round-trip time and clock offset of a source that came over TCP.
    let timing: SourceTiming?
    /// The state of the recording.
    let recording: RecordingStatus?
    /// All tracks of all rooms.
    let tracks: [Track]
    let links: LinksDocument
    /// The URL of `/api` and the file of its token.
    let administration: (url: String, tokenFile: String?)?

    struct Track {
        let room: String
        let name: String
        let state: SourceState
        let viewers: Int
    }

    init(of host: ScreenRelayHost, process: Int32, what: String) {
        self.process = process
        self.what = what
        state = host.sourceState
        room = host.room
        viewers = host.viewers
        limits = host.limits
        capture = host.captureStatistics
        timing = host.sourceTiming
        recording = host.recording
        links = host.linksDocument()
        administration = host.administration
        tracks = host.tracks.map { Track(room: $0.room, name: $0.name, state: $0.sourceState, viewers: $0.viewers) }
    }

    /// The most tracks in the JSON object.
    private static let trackLimit = 16
    /// The most links in the JSON object.
    private static let linkLimit = 8

    /// The marks that begin parts of `line`.
    private static let captureMark = "; capture: "
    private static let administrationMark = "; /api: "
    private static let linkMark = "; link: "
    /// The marks that begin a new line when people read `line`, in reverse order.
    static let marks = [captureMark, administrationMark, linkMark]

    /// The status in one line. The capture's part comes last.
    var line: String {
        var line = "\(state.words); \(what) to the room \(room); \(words(forViewers: viewers))"
        // The line already begins with the first track.
        for track in tracks.dropFirst().prefix(3) {
            line += "; track \(track.room == room ? "" : "\(track.room)/")\(track.name): \(track.state.words), "
            line += words(forViewers: track.viewers)
        }
        if tracks.count > 4 { line += "; \(tracks.count - 4) more tracks" }
        if limits != SourceLimits() { line += "; at most \(limits.words)" }
        if let timing {
            line += "; capture \(timing.roundTrip.inMilliseconds) there and back, clock \(timing.clockOffset.signed)"
        }
        if let recording { line += "; \(recording.words)" }
        line += Self.linkMark + links.links.joined(separator: " ")
        if let words = links.expiryWords { line += "; \(words)" }
        if let administration {
            line += Self.administrationMark + administration.url
            if let file = administration.tokenFile { line += ", with the token in \(file)" }
        }
        guard let capture else { return line }
        line += Self.captureMark + (recentWords(of: capture) ?? counts(of: capture))
        line += ", \(decimal(Double(capture.residentBytes) / 1_048_576, places: 1)) MiB of memory"
        if capture.heldBack > 0 { line += ", \(capture.heldBack) pictures held back so far by a slow link" }
        return line
    }

    private func words(forViewers count: Int) -> String { count == 1 ? "1 viewer" : "\(count) viewers" }

    /// Averages over a shorter time would be far off. A capture sends its first statistics after its first picture.
    private static let shortestTime: UInt64 = 500_000_000

    private func counts(of capture: CaptureStatistics) -> String {
        "\(capture.pictures) \(capture.pictures == 1 ? "picture" : "pictures") so far"
    }

    private func recentWords(of capture: CaptureStatistics) -> String? {
        capture.recent.flatMap { $0.duration < Self.shortestTime ? nil : words(for: $0) }
    }

    private func words(for recent: RecentStatistics) -> String {
        let seconds = Double(recent.duration) / 1e9
        var words = "\(decimal(Double(recent.pictures) / seconds, places: 1)) pictures"
        words += " and \(rate(Double(recent.bytes) * 8 / seconds)) a second"
        if recent.pictures > 0 {
            words += ", each encoded in \(milliseconds(recent.encodeMedianNanoseconds)) ms"
            words += " (95 of 100 in \(milliseconds(recent.encodeP95Nanoseconds)))"
        }
        words += ", \(decimal(Double(recent.processorNanoseconds) / 1e7 / seconds, places: 1)) % of a processor"
        if recent.damagedMillionths > 0 {
            words += ", \(decimal(Double(recent.damagedMillionths) / 1e4, places: 1)) % of the picture changing"
        }
        return words
    }

    /// The status as one JSON object (RFC 8259) without line feeds.
    var json: String {
        var fields = [
            ("process", "\(process)"), ("state", quoted(state.word)), ("what", quoted(beginning(of: what))),
            ("room", quoted(room)), ("viewers", "\(viewers)"),
            ("links", "[\(links.links.prefix(Self.linkLimit).map(quoted).joined(separator: ","))]"),
        ]
        if let expires = links.expires { fields.append(("expires", quoted(expires.formatted(.iso8601)))) }
        if let administration {
            let file = administration.tokenFile.map { [("tokenFile", quoted(beginning(of: $0)))] } ?? []
            fields.append(("api", object([("url", quoted(administration.url))] + file)))
        }
        if let rate = limits.frameRate { fields.append(("maxPicturesPerSecond", "\(rate.millihertz / 1000)")) }
        if let rate = limits.bitRate { fields.append(("maxBitsPerSecond", "\(rate.bitsPerSecond)")) }
        if let timing {
            fields.append(("roundTripNanoseconds", "\(timing.roundTrip.nanoseconds)"))
            fields.append(("clockOffsetNanoseconds", "\(timing.clockOffset.nanoseconds)"))
        }
        if let recording { fields.append(("recording", object(self.fields(of: recording)))) }
        let list = tracks.prefix(Self.trackLimit).map { track in
            object([
                ("room", quoted(track.room)), ("name", quoted(track.name)), ("state", quoted(track.state.word)),
                ("viewers", "\(track.viewers)"),
            ])
        }
        fields.append(("tracks", "[\(list.joined(separator: ","))]"))
        if let capture { fields.append(("capture", object(capture.fields))) }
        return object(fields)
    }

    private func fields(of recording: RecordingStatus) -> [(String, String)] {
        let counters = recording.counters
        var fields = [
            ("path", quoted(beginning(of: recording.path))), ("messages", "\(counters.messages)"),
            ("bytes", "\(counters.fileBytes)"), ("missingMessages", "\(counters.missingMessages)"),
        ]
        if let failure = recording.failure { fields.append(("stopped", quoted(failure.cause))) }
        return fields
    }

    /// The beginning of a text, so that the answer stays within its limit however long a window's title is.
    private func beginning(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(256)))
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String { decimal(Double(nanoseconds) / 1e6, places: 1) }
}

extension CaptureStatistics {
    /// The counts cover the time since the capture began; `recent` covers about the last second.
    fileprivate var fields: [(String, String)] {
        let counts: [(String, UInt64)] = [
            ("pictures", pictures), ("idrPictures", idrPictures), ("bytes", bytes), ("damageEvents", damageEvents),
            ("heldBack", heldBack), ("grabNanoseconds", grabNanoseconds), ("convertNanoseconds", convertNanoseconds),
            ("encodeNanoseconds", encodeNanoseconds), ("residentBytes", residentBytes),
        ]
        var fields = counts.map { ($0.0, "\($0.1)") }
        if let recent { fields.append(("recent", object(recent.fields))) }
        return fields
    }
}

extension RecentStatistics {
    fileprivate var fields: [(String, String)] {
        let values: [(String, UInt64)] = [
            ("nanoseconds", duration), ("pictures", pictures), ("bytes", bytes),
            ("processorNanoseconds", processorNanoseconds), ("encodeMedianNanoseconds", encodeMedianNanoseconds),
            ("encodeP95Nanoseconds", encodeP95Nanoseconds), ("damagedMillionths", damagedMillionths),
        ]
        return values.map { ($0.0, "\($0.1)") }
    }
}

extension SourceLimits {
    /// A description such as "10 pictures and 600 kbit a second".
    var words: String {
        let parts = [
            frameRate.map { "\($0.millihertz / 1000) pictures" }, bitRate.map { rate(Double($0.bitsPerSecond)) },
        ]
        return parts.compactMap { $0 }.joined(separator: " and ") + " a second"
    }
}

extension SourceState {
    /// A description in a few words.
    var words: String {
        switch self {
        case .waiting: "waiting for capture"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "paused while the screen is locked"
        case .paused(.windowHidden): "paused while what is shared is not on the screen"
        case .gone: "capture is gone"
        }
    }

    /// The state in one word, for programs.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "locked"
        case .paused(.windowHidden): "hidden"
        case .gone: "gone"
        }
    }
}

private func rate(_ bits: Double) -> String {
    bits < 1e6 ? "\(decimal(bits / 1e3, places: 0)) kbit" : "\(decimal(bits / 1e6, places: 2)) Mbit"
}

/// Formats a non-negative number with this many decimal places.
private func decimal(_ value: Double, places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, value >= 0, value < 1e12 else { return "0" }
    let scaled = Int((value * Double(scale)).rounded())
    if places == 0 { return "\(scaled)" }
    let digits = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: places - digits.count) + digits
}

/// A JSON object from names and values that are already JSON.
func object(_ fields: [(String, String)]) -> String {
    "{" + fields.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
}

/// The text as a JSON string.
func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result += "\\\(scalar)"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
