import CongestionControl
import MediaTypes
import RTP
import TrackHub

/// The sender of a session's pictures to a viewer: the stream of a track, and the answers to the viewer's requests for
/// key frames. ``ServerSender`` answers a server's requests, and ``AudioSender`` sends sound.
///
/// Sans-IO: time and the sink are arguments. Belongs to the media thread.
class PictureSender {
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) final var track: TrackSender
    @exclusivity(unchecked) final var requests: KeyFrameRequestLimiter

    /// Sends the pictures of `track`.
    init(_ track: TrackSender, requests: KeyFrameRequestLimiter = KeyFrameRequestLimiter()) {
        self.track = track
        self.requests = requests
    }

    /// Sends what is due: new pictures, probes and reports. ``TrackSender/deadline`` is the time of the next call.
    ///
    /// - Parameter keepsLayer: whether what the path is thought to carry means nothing, so that the layer stays.
    final func advance(
        along path: inout PathControl, keepsLayer: Bool = false, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) {
        track.layers.feed.forgetHidden()
        selectFrames(along: &path, keepsLayer: keepsLayer, now: now)
        if requests.poll(at: now) { serveKeyFrame(now: now) }
        sendPictures(along: &path, now: now, send: send)
        track.repair(along: &path, now: now, send: send)
        track.refreshOnce(now: now)
        if track.sendReportIfDue(now: now, send: send) { reported(along: &path, now: now, send: send) }
        track.scheduleNext(pacedUntil: path.nextSendTime(now: now), requestsDue: requestsDue)
    }

    /// Handles the packets of one RTCP datagram that arrived at `arrival`. Retransmissions for NACKs are sent at once.
    final func handle(
        _ packets: [RTCPPacket], along path: inout PathControl, arrival: MonotonicTime, now: MonotonicTime,
        send: ([UInt8]) -> Bool
    ) {
        track.beginFeedback(along: &path, now: now)
        let ssrc = track.stream.configuration.ssrc
        for packet in packets {
            switch packet {
            case .pictureLossIndication(let indication):
                guard indication.media == ssrc else { continue }
                track.layers.feed.record.keyFrameRequests += 1
                keyFrameRequested(now: now)
            case .fullIntraRequest(let request):
                for entry in request.entries where entry.ssrc == ssrc {
                    track.layers.feed.record.keyFrameRequests += 1
                    if requests.takeOrder(sender: request.sender, sequenceNumber: entry.sequenceNumber) {
                        keyFrameRequested(now: now)
                    }
                }
            default: track.handle(packet, along: &path, arrival: arrival, now: now, send: send)
            }
        }
    }

    final func sendPictures(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        let keyFrames = track.sendPictures(along: &path, now: now, send: send)
        if !keyFrames.isEmpty { sent(keyFrames, now: now) }
    }

    // MARK: For the kind of the peer

    /// Selects the frames to send: those of the source, or those of the host's own encoder.
    func selectFrames(along path: inout PathControl, keepsLayer: Bool, now: MonotonicTime) {
        if keepsLayer { return }
        track.selectLayer(PathRates(estimate: path.plan.estimate, target: path.plan.target), now: now)
    }

    /// Takes the peer's request for a key frame.
    func keyFrameRequested(now: MonotonicTime) {
        if requests.pictureLossIndicated(at: now) { serveKeyFrame(now: now) }
    }

    /// Serves the peer's request for a key frame: a viewer begins again at the last one.
    func serveKeyFrame(now: MonotonicTime) { track.restart() }

    /// When requests for key frames are due again; nil if none waits.
    var requestsDue: MonotonicTime? { requests.deadline }

    /// Notes the sending of key frames.
    func sent(_ keyFrames: TrackSender.KeyFrames, now: MonotonicTime) {
        if keyFrames.contains(.finished) { requests.keyFrameSent() }
    }

    /// Called after each sender report.
    func reported(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) {}

    /// Sends packets of no other use, as many as the pace allows now: they show whether the path carries more. Returns
    /// false if there is nothing to send.
    ///
    /// A large probe is made of a packet that was sent a moment ago, on the retransmission stream: a few hundred
    /// padding packets would be more than libwebrtc forgives (see ``TailLossProbe``). Small packets would make a probe
    /// of very many, and the viewer gets padding instead.
    func pad(along path: inout PathControl, now: MonotonicTime, send: ([UInt8]) -> Bool) -> Bool {
        let isLarge = path.plan.probe.map { $0.minByteCount >= Self.largeProbe } ?? false
        let again = isLarge && track.stream.hasRetransmission ? track.packetsForProbes.full : nil
        return track.pad(with: again, along: &path, now: now, send: send)
    }

    private static let largeProbe = 12_000

    /// Whether the sender counts for the rate of `feed`.
    func counts(for feed: TrackFeed) -> Bool { track.layers.feed === feed }

    /// Ends the sender's part in the low layer, if it has one.
    func leave() { track.layers.unsubscribeLow() }
}
