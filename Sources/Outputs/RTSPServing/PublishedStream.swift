import H264
import MediaTypes
import Opus
import RTP
import RTSP

/// Receives one stream of a publisher: puts its packets in order, and takes pictures or sound out of them.
///
/// Nothing that is lost is sent again over RTP/AVP, and nothing can be asked for. A value without I/O; the time is an
/// argument.
struct PublishedStream {
    /// How long to wait for a missing packet, which may have been overtaken.
    private static let reordering = Interval.milliseconds(100)
    /// How long pictures that depend on a lost one are held back. A damaged picture is better than one that stands
    /// still for a long time.
    private static let keyFrameTimeout = Interval.seconds(2)
    private static let canonicalName = "screenrelay"

    private let announced: RTSPAnnouncement.Stream
    /// The SSRC of our reports about it.
    private let reporter: SSRC
    /// The SSRC of its packets; nil before the first one.
    private var ssrc: SSRC?
    private var packets = JitterBuffer(timeout: PublishedStream.reordering)
    private var statistics: ReceptionStatistics
    private var clock: PublishedClock
    private var pictures = FrameReassembler(.h264)
    private var builder = AccessUnitBuilder()
    /// The time since which undecodable pictures have been left out; nil if all can be decoded.
    private var brokenSince: MonotonicTime?
    /// Nil unless it is AAC.
    private var aac: AACDepacketizer?
    /// The number of the last packet of sound.
    private var last: SequenceNumber?

    /// A stream that has received nothing.
    init(_ announced: RTSPAnnouncement.Stream, reporter: SSRC) {
        self.announced = announced
        self.reporter = reporter
        statistics = ReceptionStatistics(announced.clockRate)
        clock = PublishedClock(announced.clockRate)
        switch announced.coding {
        case .h264(let parameterSets):
            for set in parameterSets { builder.add(AnnexB.startCode + set, captureTime: nil) }
            // The sets are kept; they aren't a picture.
            builder.discardPending()
        case .aac(_, let packing, _): aac = AACDepacketizer(packing)
        case .audio: break
        }
    }

    /// When ``advance(now:)`` has something to do even if no packet arrives.
    var deadline: MonotonicTime { packets.deadline }

    /// Takes a packet. Returns what can be passed on now.
    mutating func receive(_ bytes: ArraySlice<UInt8>, now: MonotonicTime) -> [RTSPFeed.Item] {
        // Copied, so that a packet that waits doesn't keep the buffer that it came in.
        guard let packet = try? RTPPacket(parsing: Array(bytes)[...]),
            packet.header.payloadType == announced.payloadType
        else { return [] }
        if ssrc != packet.header.ssrc { begin(packet.header.ssrc) }
        statistics.note(packet.header, now: now)
        packets.insert(packet, now: now)
        return advance(now: now)
    }

    /// Gives up packets that have been missing for too long. Returns what can be passed on now.
    mutating func advance(now: MonotonicTime) -> [RTSPFeed.Item] {
        while !packets.requests(now: now).isEmpty {}
        var items: [RTSPFeed.Item] = []
        for packet in packets.take(now: now) {
            if announced.isVideo {
                takePicture(packet, into: &items, now: now)
            } else {
                takeSound(packet, into: &items, now: now)
            }
        }
        return items
    }

    /// Takes what came on the channel or the port of the reports.
    ///
    /// - Parameter epoch: what is added to the publisher's NTP time, for all of its streams; nil before the first
    ///   report.
    mutating func takeReports(_ bytes: ArraySlice<UInt8>, epoch: inout Interval?, now: MonotonicTime) {
        for case .senderReport(let report) in (try? RTCPPacket.parse(bytes)) ?? [] {
            statistics.note(report, now: now)
            // A sender without a clock has 0.
            guard report.ntpTime.rawValue != 0 else { continue }
            let sent = report.ntpTime.sinceOrigin
            let offset = epoch ?? Interval(nanoseconds: now.nanoseconds) - sent
            epoch = offset
            clock.follow(report.rtpTimestamp, at: sent + offset)
        }
    }

    /// The next report for the publisher; nil before the first packet.
    mutating func report(now: MonotonicTime) -> [UInt8]? {
        guard let ssrc, let reception = statistics.report(ssrc: ssrc, now: now) else { return nil }
        var bytes: [UInt8] = []
        ReceiverReport(ssrc: reporter, receptionReports: [reception]).write(into: &bytes)
        SourceDescription(ssrc: reporter, canonicalName: Self.canonicalName).write(into: &bytes)
        return bytes
    }

    /// Begins with the first packet, or again if the publisher has begun again.
    private mutating func begin(_ ssrc: SSRC) {
        self.ssrc = ssrc
        packets = JitterBuffer(timeout: Self.reordering)
        statistics = ReceptionStatistics(announced.clockRate)
        pictures = FrameReassembler(.h264)
        aac?.skip()
        last = nil
    }

    // MARK: Media

    private mutating func takePicture(
        _ packet: RTPPacket, into items: inout [RTSPFeed.Item], now: MonotonicTime
    ) {
        for frame in pictures.receive(packet.header, payload: packet.payload) {
            let shown = clock.time(of: frame.timestamp, arrival: now)
            guard let contents = frame.contents else {
                brokenSince = brokenSince ?? now
                continue
            }
            if contents.isRandomAccess {
                brokenSince = nil
            } else if contents.hasMedia, let since = brokenSince {
                guard now - since >= Self.keyFrameTimeout else { continue }
                brokenSince = nil
            }
            for unit in contents.units { builder.add(unit, captureTime: nil) }
            builder.endFrame()
            while let picture = builder.next() { items.append(.picture(picture, shown: shown)) }
        }
    }

    private mutating func takeSound(
        _ packet: RTPPacket, into items: inout [RTSPFeed.Item], now: MonotonicTime
    ) {
        if let last, packet.header.sequenceNumber != last.next { aac?.skip() }
        last = packet.header.sequenceNumber
        guard !packet.payload.isEmpty else { return }
        let start = clock.time(of: packet.header.timestamp, arrival: now)
        switch announced.coding {
        case .audio(let description):
            let end = start + duration(of: packet.payload, description)
            items.append(.sound(Array(packet.payload), heard: start, until: end))
        case .aac(_, _, let ticks):
            let frames = aac?.frames(in: packet.payload, isLast: packet.header.marker) ?? []
            let duration = announced.clockRate.interval(of: ticks)
            for (index, frame) in frames.enumerated() {
                let heard = start + announced.clockRate.interval(of: ticks * Int64(index))
                items.append(.sound(frame, heard: heard, until: heard + duration))
            }
        case .h264: break
        }
    }

    /// How long a packet of Opus, or of samples of one byte, is heard.
    private func duration(of payload: ArraySlice<UInt8>, _ description: AudioDescription) -> Interval {
        if description.codec == "opus" { return OpusPacket(payload)?.duration ?? .zero }
        return announced.clockRate.interval(of: Int64(payload.count / max(1, description.channelCount)))
    }
}

/// Puts the timestamps of a stream on the publisher's clock: by its sender reports, which keep its streams together,
/// and before the first one by the arrival of the first packet.
private struct PublishedClock {
    /// A report that moves the stream by less than this is inexact rather than of another clock, and is ignored: each
    /// change is heard.
    private static let tolerance = Interval.milliseconds(100)

    private let rate: ClockRate
    private var newest: (timestamp: RTPTimestamp, ticks: Int64)?
    /// What is added to the stream's own time; nil before the first packet and report.
    private var offset: Interval?
    private var hasReport = false

    init(_ rate: ClockRate) { self.rate = rate }

    /// The time of a packet's timestamp.
    mutating func time(of timestamp: RTPTimestamp, arrival: MonotonicTime) -> Interval {
        let ticks = ticks(of: timestamp)
        newest = (timestamp, ticks)
        let time = interval(of: ticks)
        let offset = self.offset ?? Interval(nanoseconds: arrival.nanoseconds) - time
        self.offset = offset
        return time + offset
    }

    /// Takes up a report that gives a timestamp its time.
    mutating func follow(_ timestamp: RTPTimestamp, at moment: Interval) {
        let ticks = ticks(of: timestamp)
        if newest == nil { newest = (timestamp, ticks) }
        let wanted = moment - interval(of: ticks)
        if hasReport, let offset, (wanted - offset).nanoseconds.magnitude < Self.tolerance.nanoseconds.magnitude {
            return
        }
        (offset, hasReport) = (wanted, true)
    }

    /// Timestamps wrap: the nearest to the newest one counts.
    private func ticks(of timestamp: RTPTimestamp) -> Int64 {
        newest.map { $0.ticks &+ Int64($0.timestamp.distance(to: timestamp)) } ?? Int64(timestamp.rawValue)
    }

    /// Saturates, unlike that of the rate: a publisher may let its timestamps jump as far as it likes.
    private func interval(of ticks: Int64) -> Interval {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(rate.hertz))
        return Interval.seconds(seconds) + rate.interval(of: rest)
    }
}

extension NTPTime {
    /// The time since NTP's origin.
    fileprivate var sinceOrigin: Interval {
        // Both are below 2^62.
        Interval.seconds(Int64(rawValue >> 32))
            + Interval(nanoseconds: Int64(((rawValue & 0xFFFF_FFFF) * 1_000_000_000) >> 32))
    }
}
