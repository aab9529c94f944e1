import MediaSessions
import MediaTypes
import Opus
import RTP
import SecureTransport
import TrackHub

/// What sends the sound of a session: each packet at once, without a place in the queue of pictures, which wait for it.
///
/// To a viewer, it never needs to be called at a certain time, so that a silence costs nothing; a server gets silence
/// (``FilledSilence``). Its sender reports go out with packets. Sans-IO: time and the sink are arguments. Belongs to
/// the media thread.
struct AudioSender {
    /// Sound that is older than this is left out: a player could only delay all that follows.
    static let maxWait = Interval.milliseconds(200)
    /// How long each packet also carries the frame before, after the peer has reported a loss. That doubles the sound's
    /// bytes, so a peer that loses nothing doesn't get it. Chromium reports on sound only about every 5 s.
    static let redundantTime = Interval.seconds(10)
    /// No packet is longer (RFC 6716 section 3.4), so that after a longer step there was a silence.
    private static let maxPacket = Interval.milliseconds(120)

    private(set) var stream: RTPStream
    private(set) var roundTripTime: Interval?
    /// The number of packets that the peer has missed, by its last report; nil before the first one.
    private(set) var lostPackets: Int?
    /// The number of packets sent, each counted once.
    private(set) var sentPackets = 0
    /// When the last packet was sent, other than of filled silence; nil before the first.
    private(set) var sentAt: MonotonicTime?
    /// What was sent in the last second.
    private(set) var bitRate = BitRate(bitsPerSecond: 0)
    /// Whether the sender waits for room in the socket. It sends nothing until this is reset.
    var isStalled = false

    private let feed: TrackFeed
    private let protector: SRTPSession
    private let formats: StreamFormats
    private let canonicalName: String
    private let clock: NTPClock
    /// The frame to send next; it may not have come yet.
    private var next: FrameNumber
    /// The last frame sent.
    private var last: (number: FrameNumber, mediaTime: MediaTime)?
    /// When the peer last reported that it had lost packets; nil if it hasn't.
    private var lossReportedAt: MonotonicTime?
    private var silence: FilledSilence?
    private var recent = OneSecondSum()
    private var responder = NackResponder()
    private var reports: ReportSchedule

    /// Creates a sender of `track`, read from `feed`, that starts with the frames that come from now on;
    /// `roundTripTime` is the first estimate, if any.
    init(
        _ track: WatchedTrack, feed: TrackFeed, of session: SessionParameters, protector: SRTPSession,
        roundTripTime: Interval?, now: MonotonicTime
    ) {
        self.feed = feed
        self.protector = protector
        self.roundTripTime = roundTripTime
        formats = track.formats
        canonicalName = session.canonicalName
        clock = session.clock
        stream = RTPStream(track, clock: session.clock)
        next = feed.history.next
        reports = ReportSchedule(start: now, hasEarlySecond: session.isOfServer)
        silence = session.isOfServer ? FilledSilence(isNow: feed.hub.hasSource, at: now) : nil
    }

    /// When ``advance(along:now:send:)`` must be called even if no sound comes.
    var deadline: MonotonicTime { isStalled ? .distantFuture : silence?.due ?? .distantFuture }

    /// Sends the sound that has come.
    mutating func advance(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        feed.forgetHidden()
        if !isStalled { skipOld() }
        while !isStalled, next < feed.history.next {
            if let frame = feed.history.frame(next), let payloadType = formats.payloadType(for: frame.format) {
                let duration = frame.coded.duration ?? OpusPacket.silentFrame
                if silence?.take(frame.mediaTime, lasting: duration, at: now) != false {
                    sendFrame(frame, payloadType: payloadType, along: &path, now: now, send: send)
                }
            }
            next = next.next
        }
        while !isStalled, deadline <= now { sendSilence(along: &path, now: now, send: send) }
        bitRate = BitRate(bitsPerSecond: recent.sum(at: now) * 8)
    }

    /// Goes on with the frame that comes next, for a viewer that was away.
    mutating func skipAll() { next = feed.history.next }

    /// Goes on with the newest frame if the session is too far behind, and with the one after it if that is old, too.
    private mutating func skipOld() {
        let end = feed.history.next
        guard next < end else { return }
        let first = max(next, feed.hiddenEnd)
        defer { if next > first { feed.record.drops.lateSoundFrames += Int(clamping: next.rawValue - first.rawValue) } }
        let newest = FrameNumber(end.rawValue - 1)
        guard let latest = feed.history.frame(newest), let came = feed.history.time(of: newest),
            feed.updatedAt - came <= Self.maxWait
        else {
            next = end
            return
        }
        let isNear = feed.history.frame(next).map { latest.mediaTime.ticks - $0.mediaTime.ticks <= Self.waitTicks }
        if isNear != true { next = newest }
    }

    private static let waitTicks = ClockRate.audio.ticks(in: maxWait)
    private static let packetTicks = ClockRate.audio.ticks(in: maxPacket)

    private static let silentPacket = CodedFrame(
        opus: OpusPacket.silence(
            frameCount: Int(FilledSilence.length.nanoseconds / OpusPacket.silentFrame.nanoseconds)), captureTime: nil)
    /// A number that no frame of the track has, so that silence is never sent again.
    private static let noNumber = FrameNumber(UInt64.max)

    private mutating func sendSilence(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard let coded = Self.silentPacket, let format = coded.format,
            let start = silence?.next(at: now, place: feed.hub.mediaTime(at: now, rate: formats.clockRate)),
            let payloadType = formats.payloadType(for: format)
        else {
            silence = nil
            return
        }
        let frame = format.codec.packetizer.packetize(coded, at: start, format: format)
        sendFrame(frame, isSilent: true, payloadType: payloadType, along: &path, now: now, send: send)
    }

    private mutating func sendFrame(
        _ frame: PacketizedFrame, isSilent: Bool = false, payloadType: PayloadType, along path: inout PathControl,
        now: MonotonicTime, send: ([UInt8]) -> Bool
    ) {
        let endsSilence =
            !isSilent && (last.map { frame.mediaTime.ticks - $0.mediaTime.ticks > Self.packetTicks } ?? true)
        let previous = endsSilence || isSilent ? nil : frameToRepeat(now: now)
        // The peer needs the capture time of a frame now and then, as it needs reports, and computes the others.
        let extensions: HeaderExtensionSet = now >= reports.deadline ? [.captureTime, .mid] : .mid
        let streamFrame = RTPStream.Frame(
            frame, number: isSilent ? Self.noNumber : next, payloadType: payloadType, after: previous,
            endsSilence: endsSilence)
        guard
            let sent = stream.write(
                packet: 0, of: streamFrame, extensions: extensions,
                transportNumber: path.nextNumberForSound(now: now), into: &feed.packet)
        else { return }
        if !isSilent { (last, sentAt) = ((next, frame.mediaTime), now) }
        sentPackets += 1
        recent.add(sent.byteCount + PathControl.overhead, at: now)
        responder.noteMediaSent(byteCount: sent.byteCount, at: now)
        if sent.transportNumber == path.nextNumber {
            path.sent(byteCount: sent.byteCount, isPaced: false, now: now)
        } else {
            // The screen stands still, or the peer takes the number for pictures alone.
            path.sentUnnumbered(byteCount: sent.byteCount, now: now)
        }
        // The sink keeps a packet that the socket has no room for; the following ones wait here, or are left out.
        if !protectAndSend(send) { isStalled = true }
        // After a silence, the peer soon learns again which pictures belong to the sound.
        if reports.isDue(at: now) { sendReport(now: now, send: send) }
    }

    /// The frame that the next packet also carries, while packets are being lost: the one before, if that was sent
    /// last.
    private func frameToRepeat(now: MonotonicTime) -> PacketizedFrame? {
        guard let lossReportedAt, now - lossReportedAt <= Self.redundantTime, let last, last.number.next == next
        else { return nil }
        return feed.history.frame(last.number)
    }

    private mutating func sendReport(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard
            stream.writeReport(
                on: feed.hub, rate: formats.clockRate, canonicalName: canonicalName, at: now, into: &feed.packet)
        else { return }
        guard (try? protector.protectRTCP(&feed.packet)) != nil else { return }
        _ = send(feed.packet)
    }

    // MARK: Feedback

    /// Handles the packets of one RTCP datagram that arrived at `arrival`. Packets that the peer asks for are sent
    /// again at once.
    mutating func handle(
        _ packets: [RTCPPacket], along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        feed.forgetHidden()
        responder.pathRoom = path.retransmissionRoom(now: now)
        for packet in packets {
            for report in packet.receptionReports where report.ssrc == stream.configuration.ssrc {
                take(report, along: &path, arrival: arrival, now: now)
            }
            guard case .genericNack(let nack) = packet else { continue }
            for lost in stream.answer(nack, by: &responder, roundTripTime: roundTripTime, at: now) {
                guard stream.writeRetransmission(lost, from: feed.history, into: &feed.packet) else { continue }
                path.sentUnnumbered(byteCount: feed.packet.count, now: now)
                _ = protectAndSend(send)
            }
        }
    }

    private mutating func take(
        _ report: ReceptionReport, along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime
    ) {
        let measured = report.roundTripTime(now: clock.time(at: arrival))
        roundTripTime = measured ?? roundTripTime
        // Packets that arrive twice make it smaller (RFC 3550 section 6.4.1).
        let lost = max(lostPackets ?? 0, Int(report.cumulativeLost))
        // A few of many packets round to a fraction of 0.
        if report.fractionLost > 0 || lost > lostPackets ?? 0 { lossReportedAt = now }
        lostPackets = lost
        guard let lastSent = stream.lastSequenceNumber else { return }
        path.take(report, lastSent: lastSent, roundTripTime: measured, arrival: arrival, now: now)
    }

    private mutating func protectAndSend(_ send: ([UInt8]) -> Bool) -> Bool {
        guard (try? protector.protect(&feed.packet)) != nil else { return true }
        return send(feed.packet)
    }
}
