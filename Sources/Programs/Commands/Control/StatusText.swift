import ByteCoding
import CaptureLink
import CommandLine
import FoundationEssentials
import Ingest
import MediaTypes
import ScreenRelayKit
import TrackHub

/// A host's status for people: parts separated by `; ` on the first line, and a line for each part that may be long.
struct StatusText {
    private let status: StatusDocument
    /// The state of what sends the first track's pictures names it so.
    private let source: String
    /// The tracks that are described.
    private let tracks: ArraySlice<StatusDocument.Track>

    private static let trackLimit = 4
    private static let narrowPathLimit = 3

    init(_ status: StatusDocument) {
        self.status = status
        source = status.source == "capture" ? "capture" : "the source"
        tracks = status.tracks.prefix(Self.trackLimit)
    }

    /// The lines, separated by line feeds. No name, title or reason in them moves a terminal's cursor.
    var text: String {
        let first = stateParts + publicationParts + soundParts + viewerParts + pathParts + recordingParts + serverParts
        let parts = first.compactMap { $0 }.map(printable)
        let further = [waitingLine, linkLine, administrationLine, mediaLine, delayLine, captureLine]
        return ([parts.joined(separator: "; ")] + further.compactMap { $0 }.map(printable)).joined(separator: "\n  ")
    }

    /// The first track's state, the source, the viewers, and further tracks.
    private var stateParts: [String?] {
        let ofEach = status.trackCount > 1 ? ", counted for each track" : ""
        let further = tracks.dropFirst().map { track in
            "track \(place(of: track)): \(stateText(track.state, of: source)), \(viewers(track.viewers))"
        }
        let others = status.trackCount - Self.trackLimit
        return [
            stateText(status.state, of: source), "\(status.what) to the room \(status.room)",
            viewers(status.viewers) + ofEach,
        ] + further + [others > 0 ? "\(others) more tracks" : nil]
    }

    private func place(of track: StatusDocument.Track) -> String {
        track.room == status.room ? track.name : "\(track.room)/\(track.name)"
    }

    private func viewers(_ count: Int) -> String { count == 1 ? "1 viewer" : "\(count) viewers" }

    /// What publishers send into the first tracks.
    private var publicationParts: [String?] {
        tracks.map { track in
            track.publishedOver.map { "track \(place(of: track)) published over \($0): \(track.publication ?? "")" }
        }
    }

    private var soundParts: [String?] {
        let first = tracks.first.flatMap { $0.sound == "none" ? nil : "sound \($0.sound)" }
        return [status.muted ? "sound muted" : first, status.microphoneMuted ? "microphone muted" : nil]
    }

    /// What viewers may not do, and which of them get fewer pictures.
    private var viewerParts: [String?] {
        [status.pointing ? nil : "pointing off", status.chat ? nil : "chat off", narrowPart]
    }

    private var narrowPart: String? {
        guard status.narrowViewers > 0 else { return nil }
        let listed = (status.narrowPaths ?? []).prefix(Self.narrowPathLimit).map { path in
            var text = path.address ?? "one without an address"
            if let rate = path.estimateBitsPerSecond { text += ", whose path carries \(rateText(Double(rate)))/s" }
            if let queue = path.queueNanoseconds, queue >= 10_000_000 {
                text += ", with packets \(queue / 1_000_000) ms in its queue"
            }
            return text
        }
        let others = status.narrowViewers - listed.count
        let more = others > 0 ? ["\(others) more"] : []
        return (status.narrowViewers == 1 ? "1 viewer gets" : "\(status.narrowViewers) viewers get")
            + " fewer pictures: " + (listed + more).joined(separator: " and ")
    }

    /// The limits, and the way from a capture over TCP.
    private var pathParts: [String?] {
        let limits = SourceLimits.text(
            framesPerSecond: status.maxPicturesPerSecond, bitsPerSecond: status.maxBitsPerSecond)
        let ignored = (status.ignoredLimits ?? []).map { $0 == "maxBitsPerSecond" ? "bit rate" : "frame rate" }
        let exceptions =
            ignored.isEmpty ? "" : ", but what comes now keeps to its own \(ignored.joined(separator: " and "))"
        let timing = status.roundTripNanoseconds.map { roundTrip in
            "capture \(milliseconds(roundTrip)) there and back, clock "
                + Interval(nanoseconds: status.clockOffsetNanoseconds ?? 0).signed
        }
        return [limits.isEmpty ? nil : "at most \(limits)\(exceptions)", timing]
    }

    private var recordingParts: [String?] {
        tracks.enumerated().map { index, track in
            track.recording.map { (index == 0 ? "" : "track \(place(of: track)) ") + text(of: $0) }
        }
    }

    private func text(of recording: StatusDocument.Recording) -> String {
        let missing = recording.missingMessages == 0 ? "" : ", \(recording.missingMessages) more are missing"
        let stopped = recording.stopped.map { "; it has stopped: \($0)" } ?? ""
        let done = "\(recording.messages) messages, \(recording.bytes) bytes"
        return "recording to '\(end(of: recording.path))': \(done)\(missing)\(stopped)"
    }

    /// The end of a long path, of at most 80 bytes, which begins with a whole character.
    private func end(of path: String) -> String {
        let limit = 80
        if path.utf8.count <= limit { return path }
        return "..." + String(decoding: path.utf8.suffix(limit).drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
    }

    /// The rooms of other servers, the pushes, and the locked rooms.
    private var serverParts: [String?] {
        (status.joins ?? []).map { "\($0.to): \($0.text)" } + (status.pushes ?? []).map(\.text)
            + [status.locked.isEmpty ? nil : "locked: \(status.locked.joined(separator: ", "))"]
    }

    private var waitingLine: String? {
        guard status.waiting > 0 else { return nil }
        let listed = (status.waitingClients ?? []).map { client in
            "\(shownName(client.name ?? "Guest \(client.id.prefix(4))")) (\(client.address))"
        }
        let more = status.waiting > listed.count ? ", and \(status.waiting - listed.count) more" : ""
        return "waiting: \(listed.joined(separator: ", "))\(more)"
    }

    private var linkLine: String? {
        let parts = [
            "link: " + status.links.joined(separator: " "), status.expires?.linkExpiry,
            status.fingerprint.map { "certificate \($0)" },
        ]
        return parts.compactMap { $0 }.joined(separator: "; ")
    }

    private var administrationLine: String? {
        let url = status.api?.url ?? "none, because its token has no file (--admin-token-file)"
        return "/api: \(url)" + (status.api?.tokenFile.map { ", with the token in \($0)" } ?? "")
    }

    private var mediaLine: String? {
        guard status.overloaded || status.mediaLagNanoseconds > 0 else { return nil }
        let overload = status.overloaded ? ", overloaded: new viewers are refused, and there are fewer frames" : ""
        return "media: at most \(milliseconds(status.mediaLagNanoseconds)) late in the last second\(overload)"
    }

    /// The stages of a picture in order, each with its description.
    private static let stages = [
        ("waiting", "until a change is grabbed"), ("encoding", "until it is encoded"), ("link", "on the capture link"),
        ("sending", "until it is sent"),
    ]

    private var delayLine: String? {
        let delays = Self.stages.compactMap { name, text in
            status.stages[name].map { "\(milliseconds($0.medianNanoseconds)) \(text)" }
        }
        return delays.isEmpty ? nil : "delay: \(delays.joined(separator: ", ")) (medians)"
    }

    private func milliseconds(_ nanoseconds: Int64) -> String { Interval(nanoseconds: nanoseconds).inMilliseconds }

    private var captureLine: String? {
        guard let capture = status.capture else { return nil }
        var text = "capture: \(recentText(of: capture) ?? counts(of: capture))"
        text += ", \(DecimalText.fixed(Double(capture.residentBytes) / 1_048_576, digits: 1)) MiB of memory"
        if capture.heldBack > 0 { text += ", \(capture.heldBack) pictures held back so far by a slow capture link" }
        return text
    }

    /// Averages over a shorter time would be far off. A capture sends its first statistics after its first picture.
    private static let minTime: UInt64 = 500_000_000

    private func counts(of capture: CaptureStatistics) -> String {
        "\(capture.pictures) \(capture.pictures == 1 ? "picture" : "pictures") so far"
    }

    private func recentText(of capture: CaptureStatistics) -> String? {
        capture.recent.flatMap { $0.duration < Self.minTime ? nil : text(for: $0) }
    }

    private func text(for recent: RecentStatistics) -> String {
        let seconds = Double(recent.duration) / 1e9
        func fixed(_ number: Double) -> String { DecimalText.fixed(number, digits: 1) }
        var text = "\(fixed(Double(recent.pictures) / seconds)) fps"
        text += " and \(rateText(Double(recent.bytes) * 8 / seconds))/s"
        if recent.pictures > 0 {
            text += ", each encoded in \(fixed(Double(recent.encodeMedianNanoseconds) / 1e6)) ms"
            text += " (95 of 100 in \(fixed(Double(recent.encodeP95Nanoseconds) / 1e6)))"
        }
        text += ", \(fixed(Double(recent.processorNanoseconds) / 1e7 / seconds)) % of a processor"
        if recent.damagedMillionths > 0 {
            text += ", \(fixed(Double(recent.damagedMillionths) / 1e4)) % of the picture changing"
        }
        return text
    }
}

extension StatusDocument.Join {
    /// The state for people, such as "joined, 2 members".
    var text: String {
        switch state {
        case "joined":
            let count = members ?? 0
            let others = excluded.map { ", \($0) without a picture: \(reason ?? "")" } ?? ""
            return "joined, \(count) \(count == 1 ? "member" : "members")\(others)"
        case "waiting" where knocking != true: return "waiting to try again: \(reason ?? "")"
        case "waiting": return reason ?? state
        case "full": return "the room is full, waiting to try again"
        case "ended": return "has ended"
        default: return state
        }
    }
}

extension PushesDocument.Push {
    /// The state for people, such as "push 1 to rtmp://live.example/app/...: connected".
    fileprivate var text: String {
        let words =
            switch state {
            case "waiting": "waiting for its track"
            case "autoReconnecting": "tries again"
            case "error": "has failed"
            default: state
            }
        let label = (name.map { "\($0) " } ?? "") + (track.map { "of \($0) " } ?? "") + "to \(to)"
        return "push \(id) \(label): \(words)" + (reason.map { ": \($0)" } ?? "")
    }
}
