import CongestionControl
import MediaTypes
import RTP
import SecureTransport
import TrackHub

/// The sender of one track of pictures. It decides which frame is sent next, in packets with the session's own sequence
/// numbers, and which packets are sent again. A ``PictureSender`` has it, and answers the peer's requests for key
/// frames.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
struct TrackSender: LayerSwitching {
    /// The session's position in the track.
    ///
    /// | from | to | when |
    /// | --- | --- | --- |
    /// | waiting | the first packet of a key frame | the viewer decodes it, and not too much has followed it |
    /// | at a packet | the same packet | the path, the socket, the pointer or the samples hold it back |
    /// | at a packet | the first packet of the next frame | all packets of the frame are sent |
    /// | at a packet | waiting | the frame is gone, its format isn't the viewer's, or the viewer sends a PLI |
    enum Position {
        /// Waiting for a key frame, last requested at that time.
        case waiting(askedAt: MonotonicTime?)
        /// Sends `packet` of `frame` next; `time` is the frame's presentation time, set once its first packet is sent.
        case at(frame: FrameNumber, packet: Int, time: MediaTime?)

        /// The frame of which something is sent next; nil while it waits for a key frame.
        var frame: FrameNumber? {
            if case .at(let number, _, _) = self { number } else { nil }
        }
    }

    /// What was sent of key frames.
    struct KeyFrames: OptionSet {
        let rawValue: UInt8
        /// The first packet of one.
        static let began = KeyFrames(rawValue: 1)
        /// The last packet of one.
        static let finished = KeyFrames(rawValue: 2)
    }

    var stream: RTPStream
    var layers: TrackLayers
    var roundTripTime: Interval?
    /// The time at which ``PictureSender/advance(along:keepsLayer:now:send:)`` must be called even if nothing arrives.
    private(set) var deadline = MonotonicTime.zero
    /// The number of pictures sent completely.
    private(set) var framesSent = 0
    /// The number of packets that the peer has missed, by its last report; nil before the first one.
    var lostPackets: Int?
    /// Whether the sender waits for room in the socket. It sends no pictures until this is reset.
    var isStalled = false
    /// The record of which pictures the pointer is drawn in.
    var pointer = PointerChanges()

    /// The interval at which a waiting session requests a key frame; the hub limits how many requests reach the source.
    private static let askingInterval = Interval.milliseconds(100)

    private let protector: SRTPSession
    private let formats: StreamFormats
    var position = Position.waiting(askedAt: nil)
    /// When it last began with a key frame. Frames that came before are there to begin with.
    var beganAt = MonotonicTime.zero
    var times: PresentationTimes
    var responder = NackResponder()
    var duplicator = RetransmissionDuplicator()
    var tailLossProbe: TailLossProbe
    var reports: PictureReports
    private var refresh = PictureRefresh()
    private var samplesWait: SamplesWait

    /// Creates a sender of `track`, read from `feed`, that starts now; `roundTripTime` is the first estimate, if any.
    init(
        _ track: WatchedTrack, feed: TrackFeed, of session: SessionParameters, protector: SRTPSession,
        roundTripTime: Interval?, now: MonotonicTime
    ) {
        layers = TrackLayers(source: feed)
        self.protector = protector
        self.roundTripTime = roundTripTime
        formats = track.formats
        times = PresentationTimes(rate: track.formats.clockRate)
        stream = RTPStream(track, clock: session.clock)
        samplesWait = SamplesWait(viewerChecks: track.extensions.available.contains(.samples))
        // Servers pass padding on, and some of their viewers take it for a picture. The last packet as it was shows
        // them each gap before it. A retransmission wouldn't: mediasoup ignores one of a packet that is new to it.
        tailLossProbe = TailLossProbe(hasRetransmission: stream.hasRetransmission && !session.isOfServer)
        reports = PictureReports(of: session, start: now)
    }

    /// The feed of the layer that the session gets.
    var feed: TrackFeed { layers.feed }

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
    /// or the samples. Returns what was sent of key frames.
    mutating func sendPictures(
        along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) -> KeyFrames {
        var keyFrames: KeyFrames = []
        while !isStalled {
            switch position {
            case .waiting(let askedAt):
                guard begins(askedAt: askedAt, at: path.plan.estimate, now: now) else { return keyFrames }
            case .at(let number, let packet, let time):
                guard number < feed.history.next else { return keyFrames }
                guard let frame = feed.history.frame(number), let payloadType = formats.payloadType(for: frame.format)
                else {
                    // Either the session is so slow that the history has dropped the frame, or the viewer can't decode
                    // its format. Then the source switches to one that all viewers decode, or the session ends.
                    if number < feed.history.oldest { layers.countSkipped(from: number) }
                    restart()
                    continue
                }
                let shownAt = time ?? times.show(number, at: frame.mediaTime)
                if packet == 0, isHeldByPointer(frame, number, shownAt: shownAt, now: now) {
                    position = .at(frame: number, packet: 0, time: shownAt)
                    return keyFrames
                }
                let streamFrame = RTPStream.Frame(frame, number: number, payloadType: payloadType, shownAt: shownAt)
                var next = packet
                while next < frame.packets.count, maySend(next, of: frame, along: &path, now: now) {
                    let isSent = sendPacket(next, of: streamFrame, along: &path, now: now, send: send)
                    if isSent, next == 0, frame.isRandomAccess { keyFrames.insert(.began) }
                    next += 1
                }
                guard next == frame.packets.count else {
                    position = .at(frame: number, packet: next, time: shownAt)
                    return keyFrames
                }
                let isFinished = finish(frame, number, paddingRoom: path.paddingRoom, now: now)
                if isFinished, frame.isRandomAccess { keyFrames.insert(.finished) }
                position = .at(frame: number.next, packet: 0, time: nil)
            }
        }
        return keyFrames
    }

    /// Begins at the feed's key frame. If there is none that the viewer decodes, or too much has followed it, requests
    /// one and returns false.
    private mutating func begins(askedAt: MonotonicTime?, at estimate: BitRate, now: MonotonicTime) -> Bool {
        let start = start(of: feed)
        let isTooLate = start.map { feed.isLate($0, at: estimate) } ?? false
        if let start, !isTooLate {
            position = .at(frame: start, packet: 0, time: nil)
            beganAt = now
            layers.countSkipped(upTo: start)
            if times.isAtStart { beginBacklog(at: start) }
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

    /// Returns false if the packet can't be written.
    private mutating func sendPacket(
        _ index: Int, of frame: RTPStream.Frame, along path: inout PathControl, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) -> Bool {
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
        else { return false }
        samplesWait.noteSent(sent, of: frame.packetized)
        responder.noteMediaSent(byteCount: sent.byteCount, at: now)
        path.sent(byteCount: sent.byteCount, isPaced: true, now: now)
        // The sink keeps a packet that the socket has no room for; the following ones wait here.
        if !protectAndSend(send) { isStalled = true }
        return true
    }

    /// Returns false if the frame is empty.
    private mutating func finish(
        _ frame: PacketizedFrame, _ number: FrameNumber, paddingRoom: Int, now: MonotonicTime
    ) -> Bool {
        guard let last = stream.lastSequenceNumber, !frame.packets.isEmpty else { return false }
        if let came = feed.history.time(of: number), came >= beganAt { feed.record.times.add(now - came) }
        refresh.pictureSent(isFirst: framesSent == 0, at: now)
        framesSent += 1
        tailLossProbe.pictureSent(
            lastSequenceNumber: last, packetCount: frame.packets.count, isKeyFrame: frame.isRandomAccess,
            roundTripTime: roundTripTime, paddingRoom: paddingRoom, at: now)
        return true
    }

    /// Asks for one more picture of a still screen, once.
    mutating func refreshOnce(now: MonotonicTime) {
        if !isBehind, refresh.takeDue(at: now) { feed.requestPicture() }
    }

    // MARK: Reports

    /// Whether reports wait for the first packet, so that the first one is sent with it: only a report shows the peer
    /// which sound belongs to the pictures.
    private var holdsReports: Bool { stream.lastSequenceNumber == nil }

    /// Returns false if no report is due.
    mutating func sendReportIfDue(now: MonotonicTime, send: ([UInt8]) -> Bool) -> Bool {
        guard !holdsReports, reports.isDue(at: now) else { return false }
        if reports.write(on: &stream, of: feed, rate: formats.clockRate, at: now),
            (try? protector.protectRTCP(&feed.packet)) != nil
        {
            _ = send(feed.packet)
        }
        return true
    }

    mutating func protectAndSend(_ send: ([UInt8]) -> Bool) -> Bool {
        guard (try? protector.protect(&feed.packet)) != nil else { return true }
        return send(feed.packet)
    }

    /// Sets ``deadline``; requests for key frames are due again at `requestsDue`, if any wait.
    mutating func scheduleNext(pacedUntil paced: MonotonicTime, requestsDue: MonotonicTime?) {
        deadline = min(requestsDue ?? .distantFuture, duplicator.deadline ?? .distantFuture)
        if !holdsReports { deadline = min(deadline, reports.deadline) }
        // A stalled sender doesn't ask again.
        if case .waiting(let askedAt?) = position, !isStalled {
            deadline = min(deadline, askedAt + Self.askingInterval)
        }
        if let due = refresh.dueAt, !isBehind { deadline = min(deadline, due) }
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
