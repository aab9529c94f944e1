import CongestionControl
import MediaTypes
import RTP
import SecureTransport
import TrackHub

/// What sends the pictures of a session. It decides which frame is sent next, in packets with the session's own
/// sequence numbers, and which packets are sent again. ``AudioSender`` sends sound.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TrackSender: LayerSwitching {
    var stream: RTPStream
    var roundTripTime: Interval?
    /// The time at which ``advance(now:send:)`` must be called even if nothing arrives.
    private(set) var deadline = MonotonicTime.zero
    /// The number of pictures sent completely.
    private(set) var framesSent = 0
    /// The number of packets that the peer has missed, by its last report; nil before the first one.
    var lostPackets: Int?
    /// Whether the sender waits for room in the socket. It sends no pictures until this is reset.
    var isStalled = false
    /// Whether what the path is thought to carry means nothing, so that the layer stays.
    var keepsLayer = false
    /// The record of which pictures the pointer is drawn in.
    var pointer = PointerChanges()

    /// The interval at which a waiting session requests a key frame; the hub limits how many requests reach the source.
    private static let askingInterval = Interval.milliseconds(100)
    /// The delay after the first pictures until a viewer of a still screen gets one more.
    private static let refreshDelay = Interval.milliseconds(250)

    let sourceFeed: TrackFeed
    var feed: TrackFeed
    var layerSelector = LayerSelector()
    var layerChange: String?
    var skippedAt: MonotonicTime?
    var skippedEnd: FrameNumber?
    private let protector: SRTPSession
    let formats: StreamFormats
    private let canonicalName: String
    let clock: NTPClock
    var position = Position.waiting(askedAt: nil)
    /// When it last began with a key frame. Frames that came before are there to begin with.
    var beganAt = MonotonicTime.zero
    var lastTicks: Int64 = .min
    /// Behind the last frame that was there when it first began.
    var backlogEnd = FrameNumber(0)
    var responder = NackResponder()
    var duplicator = RetransmissionDuplicator()
    var keyFrameRequests: KeyFrameRequestLimiter
    let isForServer: Bool
    var serverKeyFrames = ServerKeyFrames()
    /// Set while a server gets the host's own frames, or waits for them.
    var hostFrames: HostFrames?
    var tailLossProbe: TailLossProbe
    private var reports: ReportSchedule
    /// The viewer's last reference time that has not been answered, and when it arrived.
    var question: (report: ExtendedReport, arrivedAt: MonotonicTime)?
    private var refreshAt: MonotonicTime?
    private var sentAt = MonotonicTime.zero
    private var samplesWait: SamplesWait

    /// Creates a sender of `track`, read from `feed`, that starts now; `roundTripTime` is the first estimate, if any.
    init(
        _ track: WatchedTrack, feed: TrackFeed, of session: SessionParameters, protector: SRTPSession,
        roundTripTime: Interval?, now: MonotonicTime
    ) {
        sourceFeed = feed
        self.feed = feed
        self.protector = protector
        self.roundTripTime = roundTripTime
        formats = track.formats
        canonicalName = session.canonicalName
        clock = session.clock
        isForServer = session.isOfServer
        keyFrameRequests = KeyFrameRequestLimiter(isOfServer: isForServer)
        stream = RTPStream(track, clock: session.clock)
        samplesWait = SamplesWait(viewerChecks: track.extensions.available.contains(.samples))
        // Servers pass padding on, and some of their viewers take it for a picture. The last packet as it was shows
        // them each gap before it. A retransmission wouldn't: mediasoup ignores one of a packet that is new to it.
        tailLossProbe = TailLossProbe(hasRetransmission: stream.hasRetransmission && !isForServer)
        reports = ReportSchedule(start: now, hasEarlySecond: isForServer)
    }

    /// Sends what is due: new pictures, probes and reports.
    mutating func advance(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        feed.forgetHidden()
        if isForServer { serveByHost(rate: path.targetBitRate, now: now) }
        if hostFrames == nil, !keepsLayer {
            selectLayer(PathRates(estimate: path.plan.estimate, target: path.plan.target), now: now)
        }
        if keyFrameRequests.poll(at: now) { serveKeyFrame(now: now) }
        sendPictures(along: &path, now: now, send: send)
        while let number = duplicator.next(at: now) { retransmitPackets([number], along: &path, now: now, send: send) }
        // While pictures are being sent, every gap becomes visible by itself.
        if !isBehind, let action = tailLossProbe.poll(at: now) {
            perform(action, along: &path, now: now, send: send)
        }
        refreshOnce(now: now)
        sendReports(along: &path, now: now, send: send)
        scheduleNext(pacedUntil: path.nextSendTime(now: now))
    }

    // MARK: Pictures

    /// Restarts at the last key frame, with new sequence numbers and without any cost to other viewers; packets that
    /// were sent before can still be retransmitted.
    mutating func restart() {
        position = .waiting(askedAt: nil)
    }

    /// The key frame of `feed` that this session can begin with.
    func start(of feed: TrackFeed) -> FrameNumber? {
        guard let start = feed.startFrame, let format = feed.history.frame(start)?.format else { return nil }
        return formats.payloadType(for: format) == nil ? nil : start
    }

    /// Sends frames until there is none left, or until something holds a packet back: the path, the socket, the pointer
    /// or the samples.
    private mutating func sendPictures(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        while !isStalled {
            switch position {
            case .waiting(let askedAt):
                guard begins(askedAt: askedAt, at: path.plan.estimate, now: now) else { return }
            case .at(let number, let packet, let time):
                guard number < feed.history.next else { return }
                guard let frame = feed.history.frame(number), let payloadType = formats.payloadType(for: frame.format)
                else {
                    // Either the session is so slow that the history has dropped the frame, or the viewer can't decode
                    // its format. Then the source switches to one that all viewers decode, or the session ends.
                    if number < feed.history.oldest { countSkipped(from: number) }
                    restart()
                    continue
                }
                let step = number < backlogEnd ? backlogStep : 1
                let shownAt = time ?? MediaTime(ticks: max(frame.mediaTime.ticks, lastTicks &+ step))
                lastTicks = shownAt.ticks
                if packet == 0, isHeldByPointer(frame, number, shownAt: shownAt, now: now) {
                    position = .at(frame: number, packet: 0, time: shownAt)
                    return
                }
                let streamFrame = RTPStream.Frame(frame, number: number, payloadType: payloadType, shownAt: shownAt)
                var next = packet
                while next < frame.packets.count, maySend(next, of: frame, along: &path, now: now) {
                    sendPacket(next, of: streamFrame, along: &path, now: now, send: send)
                    next += 1
                }
                guard next == frame.packets.count else {
                    position = .at(frame: number, packet: next, time: shownAt)
                    return
                }
                finish(frame, number, paddingRoom: path.paddingRoom, now: now)
                position = .at(frame: number.next, packet: 0, time: nil)
            }
        }
    }

    /// Begins at the feed's key frame. If there is none that the viewer decodes, or too much has followed it, requests
    /// one and returns false.
    private mutating func begins(askedAt: MonotonicTime?, at estimate: BitRate, now: MonotonicTime) -> Bool {
        let start = start(of: feed)
        let isTooLate = start.map { isLate($0, of: feed, at: estimate) } ?? false
        if let start, !isTooLate {
            position = .at(frame: start, packet: 0, time: nil)
            beganAt = now
            countSkipped(upTo: start)
            if lastTicks == .min { beginBacklog(at: start) }
            return true
        }
        if askedAt.map({ now - $0 >= Self.askingInterval }) ?? true {
            feed.requestKeyFrame(isLate: isTooLate, now: now)
            position = .waiting(askedAt: now)
        }
        return false
    }

    /// Whether the socket, the picture's samples and the path let the packet through now.
    private mutating func maySend(
        _ packet: Int, of frame: PacketizedFrame, along path: inout PathControl, now: MonotonicTime
    ) -> Bool {
        let isLast = packet == frame.packets.count - 1
        return !isStalled && !(isLast && samplesWait.holds(frame.coded.check, now: now))
            && path.tryConsume(byteCount: frame.packets[packet].byteCount + 40, now: now)
    }

    private mutating func sendPacket(
        _ index: Int, of frame: RTPStream.Frame, along path: inout PathControl, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        // The capture time is needed once per picture; the playout delay is in every packet, since any may be the first
        // to arrive.
        var extensions: HeaderExtensionSet = [.playoutDelay, .mid]
        if index == frame.packetized.packets.count - 1 {
            extensions.insert(.captureTime)
            let isPlaceKnown = samplesWait.knowsPlace(of: frame.packetized.coded.check) { path.hasArrived($0) }
            if isPlaceKnown { extensions.insert(.samples) }
        }
        guard
            let sent = stream.write(
                packet: index, of: frame, extensions: extensions, transportNumber: path.nextNumber, into: &feed.packet)
        else { return }
        samplesWait.noteSent(sent, of: frame.packetized)
        if isForServer, index == 0, frame.packetized.isRandomAccess { keyFrameBegan(now: now) }
        responder.noteMediaSent(byteCount: sent.byteCount, at: now)
        path.sent(byteCount: sent.byteCount, isPaced: true, now: now)
        // The sink keeps a packet that the socket has no room for; the following ones wait here.
        if !protectAndSend(send) { isStalled = true }
    }

    private mutating func finish(
        _ frame: PacketizedFrame, _ number: FrameNumber, paddingRoom: Int, now: MonotonicTime
    ) {
        guard let last = stream.lastSequenceNumber, !frame.packets.isEmpty else { return }
        if let came = feed.history.time(of: number), came >= beganAt { feed.record.times.add(now - came) }
        if framesSent == 0 { refreshAt = now + Self.refreshDelay }
        framesSent += 1
        sentAt = now
        if frame.isRandomAccess, !isForServer { keyFrameRequests.keyFrameSent() }
        tailLossProbe.pictureSent(
            lastSequenceNumber: last, packetCount: frame.packets.count, isKeyFrame: frame.isRandomAccess,
            roundTripTime: roundTripTime, paddingRoom: paddingRoom, at: now)
    }

    /// Sends one more picture, once. A player that attaches its track only after the first pictures were decoded would
    /// otherwise show nothing of a still screen until the next keep-alive.
    private mutating func refreshOnce(now: MonotonicTime) {
        guard let due = refreshAt, now >= due, !isBehind else { return }
        refreshAt = nil
        if now - sentAt >= Self.refreshDelay { feed.requestPicture() }
    }

    // MARK: Reports

    /// Whether reports wait for the first packet, so that the first one is sent with it: only a report shows the peer
    /// which sound belongs to the pictures.
    private var holdsReports: Bool { stream.lastSequenceNumber == nil }

    /// Servers that pass pictures on over RTMP or HLS drop all that come before two reports have told them the time,
    /// also the first key frame.
    private mutating func sendReports(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard !holdsReports, reports.isDue(at: now) else { return }
        sendReport(now: now, send: send)
        guard isForServer, reports.count == 2 else { return }
        serveKeyFrame(now: now)
        sendPictures(along: &path, now: now, send: send)
    }

    private mutating func sendReport(now: MonotonicTime, send: ([UInt8]) -> Bool) {
        guard
            stream.writeReport(
                on: feed.hub, rate: formats.clockRate, canonicalName: canonicalName, at: now, into: &feed.packet)
        else { return }
        // Without an answer, a viewer takes the round trip to be 100 ms, and asks for a packet no sooner again.
        if let (asked, arrivedAt) = question, let answer = asked.answer(after: now - arrivedAt) {
            ExtendedReport(sender: stream.configuration.ssrc, delays: [answer]).write(into: &feed.packet)
            question = nil
        }
        guard (try? protector.protectRTCP(&feed.packet)) != nil else { return }
        _ = send(feed.packet)
    }

    mutating func protectAndSend(_ send: ([UInt8]) -> Bool) -> Bool {
        guard (try? protector.protect(&feed.packet)) != nil else { return true }
        return send(feed.packet)
    }

    private mutating func scheduleNext(pacedUntil paced: MonotonicTime) {
        deadline = min(keyFrameRequests.deadline ?? .distantFuture, duplicator.deadline ?? .distantFuture)
        if !holdsReports { deadline = min(deadline, reports.deadline) }
        if let due = serverKeyFrames.deadline { deadline = min(deadline, due) }
        // A stalled sender doesn't ask again.
        if case .waiting(let askedAt?) = position, !isStalled {
            deadline = min(deadline, askedAt + Self.askingInterval)
        }
        if let refreshAt, !isBehind { deadline = min(deadline, refreshAt) }
        let held = max(pointer.heldUntil ?? .zero, samplesWait.heldUntil ?? .zero)
        let nextSend = isStalled ? .distantFuture : max(paced, held)
        deadline = min(deadline, isBehind ? nextSend : tailLossProbe.deadline ?? .distantFuture)
    }

    /// Whether there are pictures, or parts of one, still to be sent.
    var isBehind: Bool {
        guard case .at(let number, _, _) = position else { return false }
        return number < feed.history.next
    }
}
