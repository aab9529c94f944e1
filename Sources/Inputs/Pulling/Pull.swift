import Clocks
public import MediaFiles
public import MediaTypes
public import ScreenRelayKit
import Synchronization
public import Threading
import VideoDecoding

/// Publishes the pictures of a server or a file as a track, for as long as it lives.
///
/// H.264 passes as it is; other codecs are decoded, and the host encodes their pictures. A server that fails or goes is
/// connected again, after waits that grow from one to ten seconds.
/// A file is read once, at the pace of its pictures. While nobody watches, a server that can is asked to pause.
public final class Pull: Sendable {
    /// How a source is treated.
    public struct Settings: Sendable {
        public var patience = MediaReader.Patience()
        /// The first wait before connecting again, which doubles up to the longest one.
        public var firstWait = Interval.seconds(1)
        public var longestWait = Interval.seconds(10)
        /// How long nobody must have watched before the server is asked to pause.
        public var idle = Interval.seconds(5)

        public init() {}
    }

    private let shared: Shared
    private let thread: NamedThread

    /// What the source's thread and others share.
    final class Shared: Sendable {
        let wake: WakeUp
        let isStopped = Flag()
        let isUnwatched = Flag()
        let connection = Mutex<MediaConnection?>(nil)
        let pictures = Atomic<Int>(0)

        init?() {
            guard let wake = WakeUp() else { return nil }
            self.wake = wake
        }
    }

    /// Begins to read. `track` must have no other source.
    ///
    /// - Throws: ``PullError`` if the process has no thread or descriptor left.
    public init(
        _ address: PullAddress, into track: HostedTrack, settings: Settings = Settings(), log: EventLog = .silent
    ) throws(PullError) {
        guard let shared = Shared() else { throw PullError("no file descriptor is left for a source") }
        self.shared = shared
        let run = PullRun(address, track, settings, shared, log)
        guard let thread = NamedThread("source", blocksSignals: true, body: { run.run() }) else {
            throw PullError("no thread is left for a source")
        }
        self.thread = thread
    }

    deinit { stop() }

    /// Ends the connection and the track's source. Returns when that is done, or after 2 s.
    public func stop() {
        shared.isStopped.set()
        shared.connection.withLock { $0?.abandon() }
        shared.wake.signal()
        // A name that is being looked up can't be given up; the thread ends after that by itself.
        thread.join(until: .now() + .seconds(2))
    }

    /// The pictures read so far.
    public var pictures: Int { shared.pictures.load(ordering: .relaxed) }
}

/// What a source's thread does.
struct PullRun: Sendable {
    /// A server forgets who is silent for long; nothing is wrong with it.
    private static let pausedForTooLong = "did not go on after a pause"

    private let address: PullAddress
    private let track: HostedTrack
    private let settings: Pull.Settings
    private let shared: Pull.Shared
    private let log: EventLog

    init(
        _ address: PullAddress, _ track: HostedTrack, _ settings: Pull.Settings, _ shared: Pull.Shared, _ log: EventLog
    ) {
        (self.address, self.track, self.settings, self.shared, self.log) = (address, track, settings, shared, log)
    }

    func run() {
        var wait = settings.firstWait
        var lastReason = ""
        if address.takesAnyCertificate {
            log.warning("the source \(address) is taken with any certificate: RTSP by libavformat doesn't check it")
        }
        while !shared.isStopped.isSet {
            let before = shared.pictures.load(ordering: .relaxed)
            let reason = read()
            guard !shared.isStopped.isSet else { return }
            if reason == Self.pausedForTooLong { continue }
            if address.isFile {
                log.info("the source \(address) \(reason ?? "has ended")")
                return
            }
            if shared.pictures.load(ordering: .relaxed) > before { (wait, lastReason) = (settings.firstWait, "") }
            let words = reason ?? "has ended"
            if words != lastReason {
                log.warning("the source \(address) \(words); it is connected again when it is back")
            }
            lastReason = words
            pause(until: .now() + wait)
            wait = min(wait + wait, settings.longestWait)
        }
    }

    private func pause(until deadline: MonotonicTime) {
        while !shared.isStopped.isSet, MonotonicTime.now() < deadline { shared.wake.wait(until: deadline) }
    }

    /// Reads until the end; returns why it can't go on, or nil at the end.
    private func read() -> String? {
        let connection = MediaConnection()
        shared.connection.withLock { $0 = connection }
        defer { shared.connection.withLock { $0 = nil } }
        if shared.isStopped.isSet { return nil }
        do throws(MediaFileError) {
            let reader = try MediaReader(address: address.url, connection: connection, patience: settings.patience)
            let source = try makeSource(of: reader.otherCodec)
            guard track.publish(source) else { return "can't be shown: the track has another source" }
            defer { source.end(reason: "the source has ended") }
            return try pass(reader, to: source)
        } catch {
            return "has failed: \(error)"
        }
    }

    private func makeSource(of otherCodec: StreamDescription?) throws(MediaFileError) -> CustomVideoTrack {
        let feedback = CustomVideoTrack.Feedback(
            keyFrameWanted: {},
            watchedChanged: { [shared] isWatched in
                shared.isUnwatched.set(!isWatched)
                shared.wake.signal()
            })
        guard let otherCodec else { return CustomVideoTrack(makesKeyFrames: false, feedback: feedback) }
        do throws(HostError) {
            // Of a source that doesn't say, too many are assumed rather than too few, which would take too high a rate.
            return try CustomVideoTrack(picturesPerSecond: otherCodec.picturesPerSecond ?? 60, feedback: feedback)
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }

    private func tell(_ reader: MediaReader, _ size: PictureSize?) {
        let size = size.map { " of \($0.width)x\($0.height)" } ?? ""
        let codec = reader.otherCodec.map { $0.name.uppercased() } ?? "H.264"
        let coding = reader.otherCodec == nil ? "" : ", which is encoded once more"
        let sound = reader.leftOut.isEmpty ? "" : "; not taken: " + reader.leftOut.joined(separator: ", ")
        log.info("the source \(address) sends \(codec)\(size)\(coding)\(sound)")
    }

    private func pass(_ reader: MediaReader, to source: CustomVideoTrack) throws(MediaFileError) -> String? {
        var decoded = try reader.otherCodec.map { (stream) throws(MediaFileError) in
            try DecodedSource(stream, into: source) { [log, address] fault in
                log.warning("a picture of the source \(address) is left out up to the next key frame: \(fault)")
            }
        }
        var start: (real: MonotonicTime, media: Interval)?
        var unwatchedSince: MonotonicTime?
        var canPause = !address.isFile
        var isTold = false
        while !shared.isStopped.isSet, let picture = try reader.next() {
            if address.isFile, let time = picture.time {
                let begin = start ?? (.now(), time)
                start = begin
                pause(until: begin.real + (time - begin.media))
            }
            let isBegun: Bool
            let size: PictureSize?
            switch picture.content {
            case .frame(let frame):
                source.write(frame)
                isBegun = frame.isRandomAccess
                size = frame.format?.size
            case .packet(let packet):
                try decoded?.take(packet, isWatched: !shared.isUnwatched.isSet)
                size = decoded?.size
                isBegun = size != nil
            }
            if !isTold, isBegun {
                tell(reader, size)
                isTold = true
            }
            // Before its first picture, a source of another codec may turn out to be of no use.
            if decoded == nil || size != nil { shared.pictures.wrappingAdd(1, ordering: .relaxed) }
            guard canPause else { continue }
            unwatchedSince = shared.isUnwatched.isSet ? unwatchedSince ?? .now() : nil
            guard let since = unwatchedSince, .now() - since >= settings.idle else { continue }
            unwatchedSince = nil
            guard reader.pause() else {
                canPause = false
                continue
            }
            while shared.isUnwatched.isSet, !shared.isStopped.isSet { shared.wake.wait() }
            if shared.isStopped.isSet { return nil }
            if !reader.resume() { return Self.pausedForTooLong }
            decoded?.skipToKeyFrame()
        }
        if !shared.isStopped.isSet { try decoded?.finish() }
        return nil
    }
}
