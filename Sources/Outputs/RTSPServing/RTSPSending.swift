import Clocks
import LinkTransport
import MediaTypes
import RTP
import RTSP
import STUN
import ScreenRelayKit
import SecureTransport
import Threading
import TrackHub

/// Sends a track's frames to one player, as packets of RTP with sender reports (RFC 3550).
///
/// A player whose path takes less than the track has loses pictures up to the next key frame, and delays nobody. Belongs
/// to the server's thread.
final class RTSPSending {
    /// How packets go.
    enum Way {
        /// Over the connection of the requests, on these channels.
        case connection(rtp: UInt8, rtcp: UInt8)
        case datagrams(rtp: TransportAddress, rtcp: TransportAddress)
    }

    /// A key frame is asked for so often while there is none to begin with.
    static let askInterval = Interval.milliseconds(600)
    /// What has waited for longer than this isn't shown any more.
    private static let latest = Interval.seconds(1)
    /// So many datagrams go at once, and the next ones after a pause: a player's socket holds few, and a key frame has
    /// hundreds.
    private static let burst = 16
    private static let pause = Interval.milliseconds(2)
    /// The frames before the newest one at the start are shown this long after each other.
    private static let hurry: Int64 = 90
    /// Players look at some twenty pictures before they show one. A still screen has none, so the source is asked for
    /// them at first.
    private static let firstPictures = (count: 25, spacing: Interval.milliseconds(40))
    private static let canonicalName = "screenrelay"

    private let track: HostedTrack
    private let way: Way
    private let wake: WakeUp
    private let clock = NTPClock(unixOffset: unixOffsetOfMonotonicClock())
    private var stream: RTPStream
    private var reports: ReportSchedule
    private var budget = KeyFrameBudget()
    /// Nil unless it plays.
    private var frames: TrackSubscription?
    /// What was there when the player began, with the times at which it is shown.
    private var first: [(frame: TrackFrame, time: MediaTime)] = []
    private var lastTime: MediaTime?
    private var lastNumber: UInt64?
    private var needsKeyFrame = true
    /// When to ask for a first frame again; nil once there was one.
    private var asksAgain: MonotonicTime?
    /// How many pictures are still asked for at the start, and when the next one is.
    private var wantedPictures = 0
    private var wantsPictureAt = MonotonicTime.zero
    private var datagrams: [[UInt8]] = []
    private var datagramsFrom = MonotonicTime.zero
    private var packet: [UInt8] = []

    init(_ track: HostedTrack, _ way: Way, wake: WakeUp, now: MonotonicTime) {
        (self.track, self.way, self.wake) = (track, way, wake)
        stream = RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(SecureRandom.uint32()),
                firstSequenceNumber: .first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32())),
                timestampOffset: SecureRandom.uint32(), clock: clock))
        reports = ReportSchedule(start: now)
    }

    var ssrc: UInt32 { stream.configuration.ssrc.rawValue }

    /// The numbers of the next packet; no timestamp if no frame is there.
    var next: (number: UInt16, timestamp: UInt32?) {
        let number = stream.lastSequenceNumber?.next ?? stream.configuration.firstSequenceNumber
        let time = first.first.map { RTPTimestamp($0.time, offset: stream.configuration.timestampOffset).rawValue }
        return (number.rawValue, time)
    }

    /// When `advance` has something to do besides new frames.
    var deadline: MonotonicTime {
        guard frames != nil else { return .distantFuture }
        return min(
            reports.deadline, datagrams.isEmpty ? .distantFuture : datagramsFrom, budget.deadline ?? .distantFuture,
            asksAgain ?? .distantFuture, wantedPictures > 0 ? wantsPictureAt : .distantFuture)
    }

    /// Begins, or begins again, with the frames since the last key frame: at once, whenever they were made.
    func play(now: MonotonicTime) {
        let frames = track.subscribe { [wake] in wake.signal() }
        self.frames = frames
        let there = frames.take()
        needsKeyFrame = true
        lastNumber = nil
        first = there.enumerated().map { index, frame in
            let early = there[there.count - 1].time + -Self.hurry * Int64(there.count - 1 - index)
            return (frame, later(early))
        }
        (wantedPictures, wantsPictureAt) = (Self.firstPictures.count, now)
        asksAgain = there.isEmpty ? now + Self.askInterval : nil
        if there.isEmpty { track.requestStart() }
    }

    func pause() {
        frames = nil
        (first, datagrams) = ([], [])
    }

    /// A time after the last one.
    private func later(_ time: MediaTime) -> MediaTime {
        let time = lastTime.map { max(time, $0 + 1) } ?? time
        lastTime = time
        return time
    }

    /// Sends what is due, as far as there is room.
    func advance(
        over connection: LinkConnection, _ ports: RTSPPorts, _ packets: inout PacketizedFrames, now: MonotonicTime
    ) throws(LinkTransportError) {
        guard let frames else { return }
        if budget.poll(at: now) { track.requestKeyFrame() }
        if let time = asksAgain, now >= time {
            track.requestKeyFrame()
            asksAgain = now + Self.askInterval
        }
        if wantedPictures > 0, now >= wantsPictureAt {
            track.requestPicture()
            wantedPictures -= 1
            wantsPictureAt = now + Self.firstPictures.spacing
        }
        sendDatagrams(ports, now: now)
        // What doesn't go out stays in the track's queue, which is bounded.
        if !connection.hasPending, datagrams.isEmpty {
            for (frame, time) in first { try send(frame, at: time, over: connection, &packets, now: now) }
            first = []
            for frame in current(frames.take(), now: now) {
                try send(frame, at: later(frame.time), over: connection, &packets, now: now)
            }
            sendDatagrams(ports, now: now)
        }
        if reports.isDue(at: now) { try sendReport(over: connection, ports, now: now) }
    }

    /// Without the frames that are too late, which end before a key frame.
    private func current(_ frames: [TrackFrame], now: MonotonicTime) -> [TrackFrame] {
        guard let oldest = frames.first, now - oldest.arrival > Self.latest else { return frames }
        let newest = frames.lastIndex { $0.coded.isRandomAccess && now - $0.arrival <= Self.latest }
        if let newest { return Array(frames[newest...]) }
        needsKeyFrame = true
        if budget.pictureLossIndicated(at: now) { track.requestKeyFrame() }
        return []
    }

    private func send(
        _ frame: TrackFrame, at time: MediaTime, over connection: LinkConnection, _ packets: inout PacketizedFrames,
        now: MonotonicTime
    ) throws(LinkTransportError) {
        if let lastNumber, frame.number != lastNumber + 1 { needsKeyFrame = true }
        lastNumber = frame.number
        if frame.coded.isRandomAccess {
            (needsKeyFrame, asksAgain) = (false, nil)
            budget.keyFrameSent()
        }
        guard !needsKeyFrame else { return }
        let made = packets.packets(of: frame, track: track)
        if time != frame.time {
            stream.noteClock(time, at: now)
        } else if made.captureTime == nil {
            stream.noteClock(time, at: frame.arrival)
        }
        var bytes: [UInt8] = []
        for index in made.packets.indices {
            let sent = stream.write(
                packet: index, of: made, number: UnitNumber(frame.number),
                payloadType: PayloadType(RTSPDescription.payloadType), shownAt: time, at: now, into: &packet)
            guard sent != nil else { continue }
            switch way {
            case .connection(let channel, _): Self.interleave(packet, channel, into: &bytes)
            case .datagrams: datagrams.append(packet)
            }
        }
        // All packets of a frame with one call.
        if !bytes.isEmpty { try connection.enqueue(header: bytes) }
    }

    private func sendDatagrams(_ ports: RTSPPorts, now: MonotonicTime) {
        guard case .datagrams(let peer, _) = way, !datagrams.isEmpty, now >= datagramsFrom else { return }
        var count = 0
        while count < min(Self.burst, datagrams.count), ports.sendMedia(datagrams[count], to: peer) { count += 1 }
        datagrams.removeFirst(count)
        datagramsFrom = now + Self.pause
    }

    private func sendReport(
        over connection: LinkConnection, _ ports: RTSPPorts, now: MonotonicTime
    ) throws(LinkTransportError) {
        let report = stream.statistics.report(ssrc: stream.configuration.ssrc, at: now, clock: clock, rate: .video)
        guard let report else { return }
        packet.removeAll(keepingCapacity: true)
        report.writeCompound(canonicalName: Self.canonicalName, into: &packet)
        switch way {
        case .connection(_, let channel):
            guard !connection.hasPending else { return }
            var bytes: [UInt8] = []
            Self.interleave(packet, channel, into: &bytes)
            try connection.enqueue(header: bytes)
        case .datagrams(_, let peer): ports.sendReport(packet, to: peer)
        }
    }

    /// `$`, the channel, the length in two bytes, the packet (RFC 2326 section 10.12).
    private static func interleave(_ packet: [UInt8], _ channel: UInt8, into bytes: inout [UInt8]) {
        bytes += [0x24, channel, UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)]
        bytes += packet
    }
}
