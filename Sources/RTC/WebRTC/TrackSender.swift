import CongestionControl
import MediaTypes
import RTP
import SecureTransport
import TrackHub

/// The sending half of a session. It decides which frame is sent next, in packets with the session's own sequence
/// numbers, and which packets are sent again.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TrackSender {
    /// The session's position in the track.
    private enum Position {
        /// Waiting for a key frame, last requested at that time.
        case waiting(askedAt: MonotonicTime?)
        /// Sends `packet` of `frame` next; `time` is the frame's presentation time, set once its first packet is sent.
        case at(frame: UnitNumber, packet: Int, time: MediaTime?)
    }

    private(set) var stream: RTPStream
    private(set) var roundTripTime: Interval?
    /// The estimate of the bit rate that the peer's path can carry.
    private(set) var rate = LossBasedRate()
    /// The time at which ``advance(now:send:)`` must be called even if nothing arrives.
    private(set) var deadline = MonotonicTime.zero
    /// The number of pictures sent completely.
    private(set) var sentUnits = 0
    /// Whether the sender waits for room in the socket. It sends no pictures until this is reset.
    var isStalled = false
    /// The record of which pictures the pointer is drawn in.
    var pointer = PointerChanges()

    /// The interval at which a waiting session requests a key frame; the hub limits how many requests reach the source.
    private static let askingInterval = Interval.milliseconds(100)
    /// The delay after the first pictures until a viewer of a still screen gets one more.
    private static let refreshDelay = Interval.milliseconds(250)

    private let feed: TrackFeed
    private let protector: SRTPSession
    private let formats: SessionFormats
    private let canonicalName: String
    private let clock: NTPClock
    private var position = Position.waiting(askedAt: nil)
    private var lastTicks: Int64 = .min
    private var pacer = Pacer()
    private var responder = NackResponder()
    private var budget = KeyFrameBudget()
    private var probe: TailProbe
    private var reports: ReportSchedule
    private var refreshAt: MonotonicTime?
    private var sentAt = MonotonicTime.zero
    private var buffer: [UInt8] = []
    private var lossWindow = LossWindow()

    /// Creates a sender of `feed` that starts now; `roundTripTime` is the first estimate, if there is one.
    init(
        _ parameters: SessionParameters, feed: TrackFeed, protector: SRTPSession, roundTripTime: Interval?,
        now: MonotonicTime
    ) {
        self.feed = feed
        self.protector = protector
        self.roundTripTime = roundTripTime
        formats = parameters.formats
        canonicalName = parameters.canonicalName
        clock = parameters.clock
        let types = parameters.formats.retransmissionPayloadTypes
        let retransmission =
            types.isEmpty
            ? nil
            : RTPStream.Retransmission(
                ssrc: parameters.retransmissionSSRC,
                firstSequenceNumber: .first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32())),
                payloadTypes: types)
        stream = RTPStream(
            RTPStream.Configuration(
                ssrc: parameters.ssrc,
                firstSequenceNumber: .first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32())),
                timestampOffset: SecureRandom.uint32(), extensions: parameters.extensions, clock: parameters.clock,
                retransmission: retransmission))
        probe = TailProbe(hasRetransmission: retransmission != nil)
        reports = ReportSchedule(start: now)
        buffer.reserveCapacity(RTPPacket.maximumDatagramByteCount + SRTPSession.rtcpRoom)
    }

    /// Sends what is due: new pictures, probes and reports.
    mutating func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        feed.forgetHidden()
        if budget.poll(at: now) { restart() }
        sendPictures(now: now, send: send)
        // While pictures are being sent, every gap becomes visible by itself.
        if !isBehind, let action = probe.poll(at: now) {
            perform(action, now: now, send: send)
        }
        refreshOnce(now: now)
        if reports.isDue(at: now) { sendReport(now: now, send: send) }
        scheduleNext(now: now)
    }

    /// Handles the packets of one RTCP datagram. Retransmissions for NACKs are sent at once.
    mutating func handle(_ packets: [RTCPPacket], now: MonotonicTime, send: ([UInt8]) -> Bool) {
        feed.forgetHidden()
        for packet in packets {
            switch packet {
            case .receiverReport(let report): note(report.receptionReports, now: now)
            case .senderReport(let report): note(report.receptionReports, now: now)
            case .genericNack(let nack):
                for lost in stream.answer(nack, by: &responder, roundTripTime: roundTripTime, at: now)
                where stream.writeAgain(lost, from: feed.history, into: &buffer) {
                    _ = protectAndSend(send)
                }
            case .pictureLossIndication(let indication):
                guard indication.media == stream.configuration.ssrc else { continue }
                if budget.pictureLossIndicated(at: now) { restart() }
            case .fullIntraRequest(let request):
                for entry in request.entries where entry.ssrc == stream.configuration.ssrc {
                    if budget.fullIntraRequested(
                        sender: request.sender, sequenceNumber: entry.sequenceNumber, at: now)
                    {
                        restart()
                    }
                }
            case .sourceDescription, .goodbye, .estimatedMaximumBitRate, .extendedReport, .unknown: break
            }
        }
    }

    private mutating func note(_ reports: [ReceptionReport], now: MonotonicTime) {
        for report in reports where report.ssrc == stream.configuration.ssrc {
            if let measured = report.roundTripTime(now: clock.time(at: now)) { roundTripTime = measured }
            let highest = SequenceNumber(UInt16(truncatingIfNeeded: report.highestSequenceNumber))
            probe.receiverReported(highest: highest)
            if let loss = lossWindow.take(report, sentOctets: stream.statistics.octetCount, now: now) {
                rate.report(fractionLost: loss.fraction, sent: loss.sent)
            }
        }
    }

    // MARK: Pictures

    /// Restarts at the last key frame, with new sequence numbers and without any cost to other viewers.
    mutating func restart() {
        if let start {
            position = .at(frame: start, packet: 0, time: nil)
        } else {
            position = .waiting(askedAt: nil)
        }
    }

    /// The key frame that this session can begin with.
    private var start: UnitNumber? {
        guard let start = feed.start, let format = feed.history.unit(start)?.format else { return nil }
        return formats.payloadType(for: format) == nil ? nil : start
    }

    private mutating func sendPictures(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        while !isStalled {
            switch position {
            case .waiting(let askedAt):
                guard let start else {
                    if askedAt.map({ now - $0 >= Self.askingInterval }) ?? true {
                        feed.requestKeyFrame(now: now)
                        position = .waiting(askedAt: now)
                    }
                    return
                }
                position = .at(frame: start, packet: 0, time: nil)
            case .at(let number, let packet, let time):
                guard number < feed.history.next else { return }
                guard let frame = feed.history.unit(number) else {
                    // The session is so slow that the history has dropped the frame. Whole frames are lost, for this
                    // viewer only.
                    restart()
                    continue
                }
                guard let payloadType = formats.payloadType(for: frame.format) else {
                    // Either the source switches to a format that all viewers decode, or the session ends; until then
                    // it waits.
                    position = .waiting(askedAt: nil)
                    continue
                }
                let shownAt = time ?? MediaTime(ticks: max(frame.mediaTime.ticks, lastTicks &+ 1))
                lastTicks = shownAt.ticks
                if packet == 0 {
                    let timestamp = RTPTimestamp(shownAt, offset: stream.configuration.timestampOffset)
                    let isNewest = number.next == feed.history.next
                    if pointer.holds(frame.coded.isPointerDrawn, at: timestamp, isNewest: isNewest, now: now) {
                        position = .at(frame: number, packet: 0, time: shownAt)
                        return
                    }
                }
                var next = packet
                while next < frame.packets.count {
                    guard !isStalled, pacer.take(now: now) else {
                        position = .at(frame: number, packet: next, time: shownAt)
                        return
                    }
                    sendPacket(
                        next, of: frame, number, payloadType: payloadType, shownAt: shownAt, now: now, send: send)
                    next += 1
                }
                finish(frame, now: now)
                position = .at(frame: number.next, packet: 0, time: nil)
            }
        }
    }

    private mutating func sendPacket(
        _ index: Int, of frame: PacketizedFrame, _ number: UnitNumber, payloadType: PayloadType,
        shownAt time: MediaTime, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) {
        // The capture time is needed once per picture; the playout delay is in every packet, since any may be the first
        // to arrive.
        var extensions: HeaderExtensionSet = [.playoutDelay, .mid]
        if index == frame.packets.count - 1 { extensions.insert(.captureTime) }
        guard
            let sent = stream.write(
                packet: index, of: frame, number: number, payloadType: payloadType, extensions: extensions,
                shownAt: time, at: now, into: &buffer)
        else { return }
        responder.noteMediaSent(byteCount: sent.byteCount, at: now)
        // The sink keeps a packet that the socket has no room for; the following ones wait here.
        if !protectAndSend(send) { isStalled = true }
    }

    private mutating func finish(_ frame: PacketizedFrame, now: MonotonicTime) {
        guard let last = stream.lastSequenceNumber, !frame.packets.isEmpty else { return }
        if sentUnits == 0 { refreshAt = now + Self.refreshDelay }
        sentUnits += 1
        sentAt = now
        if frame.isRandomAccess { budget.keyFrameSent() }
        probe.pictureSent(
            lastSequenceNumber: last, packetCount: frame.packets.count, roundTripTime: roundTripTime, at: now)
    }

    /// Sends one more picture, once. A player that attaches its track only after the first pictures were decoded would
    /// otherwise show nothing of a still screen until the next keep-alive.
    private mutating func refreshOnce(now: MonotonicTime) {
        guard let due = refreshAt, now >= due, !isBehind else { return }
        refreshAt = nil
        if now - sentAt >= Self.refreshDelay { feed.requestPicture() }
    }

    // MARK: Probes and reports

    private mutating func perform(_ action: TailProbe.Action, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard let last = stream.lastSequenceNumber else { return }
        switch action {
        case .padding:
            guard let sent = stream.writePadding(into: &buffer) else { return }
            responder.noteProbeSent(byteCount: sent.byteCount, at: now)
            _ = protectAndSend(send)
        case .repeatLastPacket:
            repeatPackets([last], now: now, send: send)
        case .retransmitPicture:
            repeatPackets(probe.pictureSequenceNumbers, now: now, send: send)
        }
    }

    private mutating func repeatPackets(_ numbers: [SequenceNumber], now: MonotonicTime, send: ([UInt8]) -> Bool) {
        for number in numbers {
            guard let packet = stream.sent.packet(number), stream.writeAgain(packet, from: feed.history, into: &buffer)
            else { continue }
            responder.noteProbeSent(byteCount: packet.byteCount, at: now)
            _ = protectAndSend(send)
        }
    }

    private mutating func sendReport(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard stream.lastSequenceNumber != nil else { return }
        stream.noteClock(feed.hub.mediaTime(at: now), at: now)
        let ssrc = stream.configuration.ssrc
        guard let report = stream.statistics.report(ssrc: ssrc, at: now, clock: clock, rate: formats.clockRate)
        else { return }
        buffer.removeAll(keepingCapacity: true)
        report.writeCompound(canonicalName: canonicalName, into: &buffer)
        guard (try? protector.protectRTCP(&buffer)) != nil else { return }
        _ = send(buffer)
    }

    private mutating func protectAndSend(_ send: ([UInt8]) -> Bool) -> Bool {
        guard (try? protector.protect(&buffer)) != nil else { return true }
        return send(buffer)
    }

    private mutating func scheduleNext(now: MonotonicTime) {
        deadline = min(reports.deadline, budget.deadline ?? .distantFuture)
        if case .waiting(let askedAt?) = position { deadline = min(deadline, askedAt + Self.askingInterval) }
        if let refreshAt { deadline = min(deadline, refreshAt) }
        let slot = isStalled ? .distantFuture : max(pacer.nextSlot(now: now), pointer.heldUntil ?? .zero)
        deadline = min(deadline, isBehind ? slot : probe.deadline ?? .distantFuture)
    }

    /// Whether there are pictures, or parts of one, still to be sent.
    private var isBehind: Bool {
        guard case .at(let number, _, _) = position else { return false }
        return number < feed.history.next
    }
}
