import Clocks
import MediaFiles
import MediaTypes
import ScreenRelayKit
import Synchronization
import Threading

/// What a source's thread does.
struct PullRun: Sendable {
    /// A server forgets who is silent for long; nothing is wrong with it.
    private static let pausedForTooLong = "did not go on after a pause"
    /// Frames that are shown in another order have to be decoded, from a key frame on.
    private static let reorders =
        "sends B-frames without announcing them; it is reopened, to re-encode them"

    private let address: PullAddress
    private let track: HostedTrack
    private let settings: Pull.Settings
    private let shared: Pull.Shared
    private let log: EventLog
    private let onEvent: @Sendable (PullEvent) -> Void

    init(
        _ address: PullAddress, _ track: HostedTrack, _ settings: Pull.Settings, _ shared: Pull.Shared, _ log: EventLog,
        _ onEvent: @escaping @Sendable (PullEvent) -> Void
    ) {
        self.address = address
        self.track = track
        self.settings = settings
        self.shared = shared
        self.log = log
        self.onEvent = onEvent
    }

    func run() {
        var wait = settings.firstWait
        var lastReason = ""
        var reorders = false
        if address.takesAnyCertificate {
            log.warning("the source \(address): the certificate isn't verified, because libavformat can't")
        }
        while !shared.isStopped.isSet {
            shared.hasCome.set(false)
            let reason = read(reorders: reorders)
            guard !shared.isStopped.isSet else { return }
            if reason == Self.pausedForTooLong { continue }
            if reason == Self.reorders, !reorders {
                reorders = true
                log.warning("the source \(address) \(Self.reorders)")
                continue
            }
            if address.isFile {
                log.info("the source \(address) \(reason ?? "has ended")")
                let isUseless = !shared.hasCome.isSet
                let text = reason ?? (isUseless ? "has no pictures and no sound that can be shown" : nil)
                onEvent(text.map { .failed(because: $0) } ?? .ended)
                return
            }
            if shared.hasCome.isSet { (wait, lastReason) = (settings.firstWait, "") }
            let text = reason ?? "has ended"
            if text != lastReason {
                log.warning("the source \(address) \(text); will reconnect")
                onEvent(reason.map { .failed(because: $0) } ?? .ended)
            }
            lastReason = text
            pause(until: .now() + wait)
            wait = min(wait + wait, settings.maxWait)
        }
    }

    private func pause(until deadline: MonotonicTime) {
        while !shared.isStopped.isSet, MonotonicTime.now() < deadline { shared.wake.wait(until: deadline) }
    }

    /// Reads until the end; returns why it can't go on, or nil at the end.
    private func read(reorders: Bool) -> String? {
        let connection = MediaConnection()
        shared.connection.withLock { $0 = connection }
        defer { shared.connection.withLock { $0 = nil } }
        if shared.isStopped.isSet { return nil }
        do throws(MediaFileError) {
            let reader = try MediaReader(
                address: address.url, connection: connection, timeouts: settings.timeouts, reorders: reorders)
            var relay = try SourceRelay(reader, named: "the source \(address)", into: track, shared, log: log)
            defer { relay.end(reason: "the source has ended") }
            guard relay.publish() else { return "can't be shown: the track has another source" }
            return try pass(reader, to: &relay)
        } catch {
            return "has failed: \(error)"
        }
    }

    private func pass(_ reader: MediaReader, to relay: inout SourceRelay) throws(MediaFileError) -> String? {
        var pace = FilePace()
        var isConnected = false
        func tellConnected() {
            guard !isConnected, shared.hasCome.isSet else { return }
            isConnected = true
            onEvent(.connected)
        }
        var idleSince: MonotonicTime?
        var canPause = !address.isFile
        while !shared.isStopped.isSet, let piece = try reader.next() {
            guard !address.isFile else {
                try give(pace.add(piece, now: .now()), at: pace, to: &relay)
                if relay.reorders { return Self.reorders }
                tellConnected()
                continue
            }
            try relay.take(piece)
            if relay.reorders { return Self.reorders }
            tellConnected()
            guard canPause else { continue }
            idleSince = shared.isIdle ? idleSince ?? .now() : nil
            guard let since = idleSince, .now() - since >= settings.idle else { continue }
            idleSince = nil
            guard reader.pause() else {
                canPause = false
                continue
            }
            while shared.isIdle, !shared.isStopped.isSet { shared.wake.wait() }
            if shared.isStopped.isSet { return nil }
            if !reader.resume() { return Self.pausedForTooLong }
            relay.skip()
        }
        try give(pace.finish(now: .now()), at: pace, to: &relay)
        if !shared.isStopped.isSet { try relay.finish() }
        tellConnected()
        return nil
    }

    /// Passes a file's pieces on when they are due.
    private func give(
        _ pieces: [MediaReader.Piece], at pace: FilePace, to relay: inout SourceRelay
    ) throws(MediaFileError) {
        for piece in pieces {
            pause(until: pace.due(piece))
            if shared.isStopped.isSet { return }
            try relay.take(piece)
        }
    }
}
