import Clocks
import MediaFiles
import MediaTypes
import Pulling
import ScreenRelayKit
import Threading

/// What a publisher's thread does: reads its MPEG transport stream as that of a source.
final class SRTPublisherRun: MediaInput {
    private let caller: SRTCaller
    private let publisher: ServedPublisher
    private let limits: PublisherLimits
    private let source: Pull.Shared
    private let log: EventLog
    private let name: String
    private let connection = MediaConnection()
    /// Why it ends; nil if the publisher leaves.
    private var reason: String?
    /// Whether frames are known to arrive in another order than they are shown.
    private var reorders = false
    /// Whether anything has arrived.
    private var hasCome = false
    private var rate: PublisherRate

    /// - Parameter caller: the caller, which belongs to the publisher's thread from now on.
    init(
        _ caller: SRTCaller, _ publisher: ServedPublisher, _ limits: PublisherLimits, _ source: Pull.Shared,
        _ log: EventLog
    ) {
        self.caller = caller
        self.publisher = publisher
        self.limits = limits
        self.source = source
        self.log = log
        name = "srt: \(caller.address)"
        rate = PublisherRate(bytesPerSecond: limits.bytesPerSecond)
    }

    func run() {
        let place = "\(publisher.track.room)/\(publisher.track.name)"
        log.info("\(name) publishes \(place)")
        do throws(MediaFileError) {
            while try read() {}
        } catch {
            reason = reason ?? (hasCome ? "\(error)" : "it sent nothing")
        }
        caller.close()
        log.info("\(name) has left \(place)" + (reason.map { ": \($0)" } ?? ""))
    }

    /// Reads until the end. Returns whether it has to go on as another kind of source.
    private func read() throws(MediaFileError) -> Bool {
        var timeouts = MediaReader.Timeouts()
        (timeouts.connecting, timeouts.analysing) = (limits.greeting, limits.greeting)
        timeouts.reading = limits.silence
        let reader = try MediaReader(
            transportStream: self, connection: connection, timeouts: timeouts, reorders: reorders)
        var relay = try SourceRelay(reader, named: name, over: .srt, into: publisher.track, source, log: log)
        guard relay.publish() else {
            reason = "the track has another source"
            return false
        }
        do throws(MediaFileError) {
            try pass(reader, to: &relay)
        } catch {
            reason = reason ?? "\(error)"
        }
        relay.end(reason: reason ?? "the publisher has left")
        guard relay.reorders, !reorders, reason == nil else { return false }
        reorders = true
        log.warning("\(name) sends B-frames without announcing them; they are re-encoded from now on")
        return true
    }

    private func pass(_ reader: MediaReader, to relay: inout SourceRelay) throws(MediaFileError) {
        while let piece = try reader.next() {
            try relay.take(piece)
            if relay.reorders { return }
        }
        try relay.finish()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        reason = reason ?? publisher.ending
        guard reason == nil, let count = caller.read(into: buffer) else { return nil }
        if count == 0 { return 0 }
        hasCome = true
        let now = MonotonicTime.now()
        rate.note(byteCount: count, now: now)
        if rate.receivesFrom > now { reason = rate.excess }
        return reason == nil ? count : nil
    }
}
