import ByteCoding
import CaptureLink
import Ingest
import MediaTypes
import RecordingFiles
import ScreenRelayKit
import Signalling
import TrackHub

/// A host's status, in words for people or as a JSON object for programs.
struct StatusReport {
    let process: Int32
    let state: SourceState
    /// The host's activity, such as "sharing :0".
    let what: String
    /// The source of the pictures.
    let source: String
    let room: String
    let viewers: Int
    /// Whether the sharer has muted the sound.
    let isMuted: Bool
    /// Whether the sharer has muted the microphone.
    let isMicrophoneMuted: Bool
    /// Whether viewers may point at the pictures.
    let allowsPointing: Bool
    /// Whether viewers may write in the chat.
    let allowsChat: Bool
    /// The viewers whose paths can't carry all pictures.
    let lowLayerViewers: LowLayerViewers
    let metrics: Metrics
    let limits: SourceLimits
    /// The limits that no source keeps to.
    let ignoredLimits: SourceOrders
    let capture: CaptureStatistics?
    /// The round-trip time and clock offset of a source that is connected over TCP.
    let timing: SourceTiming?
    /// All tracks of all rooms.
    let tracks: [Track]
    /// The rooms that are locked or have a waiting room.
    let doors: [(room: String, state: DoorState)]
    let links: LinksDocument
    /// The rooms of other servers.
    let joins: Joins?
    let pushes: [PushReport]
    /// The URL of `/api` and the file of its token.
    let administration: (url: String, tokenFile: String?)?

    struct Track {
        let room: String
        let name: String
        let state: SourceState
        let viewers: Int
        let sound: AudioState
        let listeners: Int
        /// The state of the track's recording, if it has one.
        let recording: RecordingStatus?
        let publication: TrackPublication?

        init(_ track: HostedTrack) {
            (room, name, state, viewers) = (track.room, track.name, track.sourceState, track.viewers)
            (sound, listeners) = (track.soundState, track.listeners)
            recording = track.recording
            publication = track.publication
        }

        /// The sound in one word: the state announced to viewers, or `idle` if there is neither a listener
        /// nor a recording, so that its source may rest.
        var soundWord: String { sound == .live && listeners == 0 && !isRecorded ? "idle" : sound.rawValue }

        private var isRecorded: Bool { recording.map { $0.failure == nil } ?? false }
    }

    init(of host: ScreenRelayHost, process: Int32, _ facts: Control.Facts, _ pushes: [PushReport]) {
        self.process = process
        self.pushes = pushes
        (what, source, joins) = (facts.what, facts.source, facts.joins)
        state = host.firstTrack.sourceState
        room = host.room
        viewers = host.viewers
        isMuted = host.isMuted
        isMicrophoneMuted = host.isMicrophoneMuted
        allowsPointing = host.allowsPointing
        allowsChat = host.allowsChat
        lowLayerViewers = LowLayerViewers(in: host.statistics)
        metrics = host.metrics
        limits = host.limits
        ignoredLimits = host.ignored(of: host.limits)
        capture = host.firstTrack.captureStatistics
        timing = host.firstTrack.sourceTiming
        doors = host.roomNames.map { (room: $0, state: host.door(of: $0)) }.filter { $0.state.reason != nil }
        links = host.linksDocument()
        administration = host.administration
        tracks = host.tracks.map { Track($0) }
    }

    /// The most joins that are reported.
    static let joinLimit = 8

    /// The status in one line: parts with `; ` between them (Protocol/control.md). The capture's part comes last.
    var line: String {
        let parts =
            stateParts + publicationParts + soundParts
            + [allowsPointing ? nil : "pointing off", allowsChat ? nil : "chat off"] + pathParts + doorParts + linkParts
            + [administrationPart, mediaPart, delayPart, capturePart]
        return parts.compactMap { $0 }.joined(separator: "; ")
    }

    /// The names that begin parts of `line`, in the order of the line. People read these parts on lines of their own.
    private static let namedParts = ["waiting: ", "link: ", "/api: ", "media: ", "delay: ", "capture: "]

    /// A host's answer in lines, for people. It comes from another process, so only its text separates the parts.
    static func lines(of answer: String) -> String {
        var text = answer
        for name in namedParts {
            guard let range = text.firstRange(of: "; \(name)") else { continue }
            text.replaceSubrange(range, with: "\n  \(name)")
        }
        return text
    }

    /// The first track's state, the source, the viewers, and further tracks.
    private var stateParts: [String?] {
        let ofEach = tracks.count > 1 ? ", counted for each track" : ""
        let further = tracks.dropFirst().prefix(3).map { track in
            "track \(place(of: track)): \(track.state.text(for: source)), \(text(forViewers: track.viewers))"
        }
        return [state.text(for: source), "\(what) to the room \(room)", text(forViewers: viewers) + ofEach] + further
            + [tracks.count > 4 ? "\(tracks.count - 4) more tracks" : nil]
    }

    func place(of track: Track) -> String { track.room == room ? track.name : "\(track.room)/\(track.name)" }

    /// What publishers send into the first tracks.
    private var publicationParts: [String?] {
        tracks.prefix(4).map { track in
            track.publication.map { "track \(place(of: track)) published over \($0.transport.rawValue): \($0.text)" }
        }
    }

    private var soundParts: [String?] {
        let first = tracks.first.flatMap { $0.sound == AudioState.none ? nil : "sound \($0.soundWord)" }
        return [isMuted ? "sound muted" : first, isMicrophoneMuted ? "microphone muted" : nil]
    }

    /// Slow paths, limits, the way from the capture, the recordings, the rooms of other servers and the pushes.
    private var pathParts: [String?] {
        let exceptions = ignoredLimits.isEmpty ? "" : ", but what comes now keeps to its own \(ignoredLimits.text)"
        let servers = (joins?.lines ?? []).prefix(Self.joinLimit) + pushes.map(\.line)
        return [
            lowLayerViewers.text,
            limits == SourceLimits() ? nil : "at most \(limits.text)\(exceptions)",
            timing.map { "capture \($0.roundTrip.inMilliseconds) there and back, clock \($0.clockOffset.signed)" },
        ] + recordingParts + servers.map(Optional.some)
    }

    private var linkParts: [String?] {
        [
            "link: " + links.links.joined(separator: " "), links.expiryText,
            links.fingerprint.map { "certificate \($0)" },
        ]
    }

    private var administrationPart: String? {
        let url = administration?.url ?? "none, because its token has no file (--admin-token-file)"
        return "/api: \(url)" + (administration?.tokenFile.map { ", with the token in \($0)" } ?? "")
    }

    private var mediaPart: String? {
        guard metrics.isOverloaded || metrics.mediaLag > .zero else { return nil }
        let overload = metrics.isOverloaded ? ", overloaded: new viewers are refused, and there are fewer frames" : ""
        return "media: at most \(metrics.mediaLag.inMilliseconds) late in the last second\(overload)"
    }

    private var delayPart: String? {
        let delays = metrics.namedStages.compactMap { stage, times in
            times.quantile(0.5).map { "\($0.inMilliseconds) \(Self.stageText[stage] ?? stage)" }
        }
        return delays.isEmpty ? nil : "delay: \(delays.joined(separator: ", ")) (medians)"
    }

    private var capturePart: String? {
        guard let capture else { return nil }
        var text = "capture: \(recentText(of: capture) ?? counts(of: capture))"
        text += ", \(DecimalText.fixed(Double(capture.residentBytes) / 1_048_576, digits: 1)) MiB of memory"
        if capture.heldBack > 0 { text += ", \(capture.heldBack) pictures held back so far by a slow capture link" }
        return text
    }

    /// The description of each stage of a picture, by the stage's name.
    private static let stageText = [
        "waiting": "until a change is grabbed", "encoding": "until it is encoded", "link": "on the capture link",
        "sending": "until it is sent",
    ]

    private func text(forViewers count: Int) -> String { count == 1 ? "1 viewer" : "\(count) viewers" }

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
        var text = "\(DecimalText.fixed(Double(recent.pictures) / seconds, digits: 1)) fps"
        text += " and \(rateText(Double(recent.bytes) * 8 / seconds))/s"
        if recent.pictures > 0 {
            text += ", each encoded in \(milliseconds(recent.encodeMedianNanoseconds)) ms"
            text += " (95 of 100 in \(milliseconds(recent.encodeP95Nanoseconds)))"
        }
        text +=
            ", \(DecimalText.fixed(Double(recent.processorNanoseconds) / 1e7 / seconds, digits: 1)) % of a processor"
        if recent.damagedMillionths > 0 {
            text +=
                ", \(DecimalText.fixed(Double(recent.damagedMillionths) / 1e4, digits: 1)) % of the picture changing"
        }
        return text
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String {
        DecimalText.fixed(Double(nanoseconds) / 1e6, digits: 1)
    }
}
