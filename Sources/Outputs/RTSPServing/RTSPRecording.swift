import LinkTransport
import MediaTypes
import RTP
import RTSP
import STUN
import ScreenRelayKit
import SecureTransport
import Threading

/// What a client publishes in its session: the streams that it has announced, and the track that it has claimed.
/// Belongs to the server's thread.
final class RTSPRecording {
    private struct Receiver {
        var stream: PublishedStream
        var reports: ReportSchedule
    }

    private let announcement: RTSPAnnouncement
    private let publisher: ServedPublisher
    private let served: ServedPublishers
    private let limits: PublisherLimits
    private let name: String
    private let log: EventLog
    /// How the streams that are set up arrive, by their indices in the announcement.
    private var ways: [Int: PlayerStream.Way] = [:]
    private var receivers: [Int: Receiver] = [:]
    /// Nil before the client begins to send.
    private var feed: RTSPFeed?
    /// Whether it sends, and hasn't paused.
    private(set) var isRunning = false
    private var epoch: Interval?
    /// Closed while pictures are dropped because too many wait.
    private var gate = RandomAccessGate(isClosed: false)
    private var hasToldDrops = false
    /// When the client must have begun, or sent something.
    private var awaitedUntil: MonotonicTime
    private var rate: PublisherRate
    private var isTooFast = false

    /// - Parameters:
    ///   - publisher: the claim of the track, which ``end(because:)`` gives back.
    ///   - served: the server's publishers.
    ///   - name: what lines of the log begin with.
    init(
        _ announcement: RTSPAnnouncement, _ publisher: ServedPublisher, of served: ServedPublishers,
        limits: PublisherLimits, name: String, log: EventLog, now: MonotonicTime
    ) {
        self.announcement = announcement
        self.publisher = publisher
        self.served = served
        self.limits = limits
        self.name = name
        self.log = log
        rate = PublisherRate(bytesPerSecond: limits.bytesPerSecond)
        awaitedUntil = now + limits.greeting
    }

    /// The addresses that datagrams of its streams come from. Others are ignored.
    var addresses: [TransportAddress] {
        ways.keys.sorted().flatMap { index -> [TransportAddress] in
            if case .datagrams(let rtp, let rtcp)? = ways[index] { [rtp, rtcp] } else { [] }
        }
    }

    /// Whether its packets come over the connection of the requests.
    var isInterleaved: Bool {
        ways.values.contains { if case .connection = $0 { true } else { false } }
    }

    /// When there is something to do even if nothing arrives.
    var deadline: MonotonicTime {
        guard isRunning else { return awaitedUntil }
        return receivers.values.reduce(awaitedUntil) { deadline, receiver in
            min(deadline, receiver.stream.deadline, receiver.reports.deadline)
        }
    }

    /// Notes a request: a client that hasn't begun, or has paused, gets more time.
    func noteRequest(now: MonotonicTime) {
        if !isRunning { awaitedUntil = now + limits.greeting }
    }

    /// Receives a stream of the announcement in this way.
    func setUp(_ index: Int, _ way: PlayerStream.Way, now: MonotonicTime) {
        guard announcement.streams.indices.contains(index) else { return }
        let stream = PublishedStream(announcement.streams[index], reporter: SSRC(SecureRandom.uint32()))
        ways[index] = way
        receivers[index] = Receiver(
            stream: stream, reports: ReportSchedule(start: now + ReportSchedule.interval))
    }

    /// Begins to pass on what arrives, or resumes after a pause. Returns false if no thread or descriptor is left.
    func begin(now: MonotonicTime) -> Bool {
        if feed == nil {
            let sound = ways.keys.compactMap { announcement.streams[$0].sound }.first
            guard let made = RTSPFeed() else { return false }
            let isStarted = served.start(publisher) { [publisher, name, log] in
                made.run(publisher, sound: sound, name: name, log: log)
            }
            guard isStarted else { return false }
            feed = made
            log.info("\(name) publishes \(place) over \(isInterleaved ? "TCP" : "UDP")")
        }
        isRunning = true
        awaitedUntil = now + limits.silence
        return true
    }

    /// Ignores what arrives until the client begins again.
    func pause(now: MonotonicTime) {
        isRunning = false
        awaitedUntil = now + limits.greeting
    }

    /// Why the session has to end; nil if it hasn't.
    func reasonToEnd(now: MonotonicTime) -> String? {
        if let reason = publisher.ending { return reason }
        if isTooFast { return rate.excess }
        guard now >= awaitedUntil else { return nil }
        return isRunning ? "nothing came for too long" : "it has not begun to send"
    }

    /// Leaves the track.
    func end(because reason: String?) {
        if let feed {
            log.info("\(name) has left \(place)" + (reason.map { ": \($0)" } ?? ""))
            feed.end(because: reason ?? "the publisher has left")
        } else {
            publisher.giveUp()
        }
        (feed, isRunning) = (nil, false)
        (ways, receivers) = ([:], [:])
    }

    private var place: String { "\(publisher.track.room)/\(publisher.track.name)" }

    // MARK: Media

    /// Takes a packet that came over the connection on this channel.
    func receive(_ bytes: ArraySlice<UInt8>, on channel: UInt8, now: MonotonicTime) {
        for (index, way) in ways {
            guard case .connection(let rtp, let rtcp) = way, channel == rtp || channel == rtcp else { continue }
            return take(bytes, of: index, isReport: channel == rtcp, now: now)
        }
    }

    /// Takes a datagram that came from this address.
    ///
    /// - Parameter isReport: whether it came to the port of the reports.
    func receive(_ bytes: ArraySlice<UInt8>, from peer: TransportAddress, isReport: Bool, now: MonotonicTime) {
        for (index, way) in ways {
            guard case .datagrams(let rtp, let rtcp) = way, peer == (isReport ? rtcp : rtp) else { continue }
            return take(bytes, of: index, isReport: isReport, now: now)
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>, of index: Int, isReport: Bool, now: MonotonicTime) {
        guard isRunning, !isTooFast else { return }
        rate.note(byteCount: bytes.count, now: now)
        isTooFast = rate.receivesFrom > now
        if isReport {
            receivers[index]?.stream.takeReports(bytes, epoch: &epoch, now: now)
        } else {
            awaitedUntil = now + limits.silence
            pass(receivers[index]?.stream.receive(bytes, now: now) ?? [])
        }
    }

    private func pass(_ items: [RTSPFeed.Item]) {
        guard let feed else { return }
        for item in items {
            if case .picture(let frame, _) = item, !gate.passes(isRandomAccess: frame.isRandomAccess) { continue }
            guard !feed.post(item) else { continue }
            // The others depend on the picture that is left out.
            if case .picture = item { gate.close() }
            guard !hasToldDrops else { continue }
            hasToldDrops = true
            log.warning("\(name): it sends more than can be re-encoded; dropping frames until the next key frame")
        }
    }

    /// Passes on what has waited for missing packets long enough, and sends the reports that are due.
    func advance(
        over connection: SocketConnection, _ ports: RTSPPorts, now: MonotonicTime
    ) throws(SocketError) {
        guard isRunning else { return }
        for (index, way) in ways {
            pass(receivers[index]?.stream.advance(now: now) ?? [])
            guard receivers[index]?.reports.isDue(at: now) == true,
                let report = receivers[index]?.stream.report(now: now)
            else { continue }
            switch way {
            case .connection(_, let channel):
                // Few clients read them; they must not pile up.
                if connection.hasPending { continue }
                var interleaved: [UInt8] = []
                PlayerStream.beginPacket(of: report.count, on: channel, in: &interleaved)
                try connection.enqueue(header: interleaved + report)
            case .datagrams(_, let peer): ports.sendReport(report, to: peer)
            }
        }
    }
}

extension RTSPAnnouncement.Stream {
    /// The description of its sound; nil if it has pictures.
    fileprivate var sound: AudioDescription? {
        switch coding {
        case .h264: nil
        case .audio(let description), .aac(let description, _, _): description
        }
    }
}
