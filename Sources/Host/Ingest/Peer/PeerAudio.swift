import CaptureLink
import MediaTypes
import Threading
import TrackHub

/// The sound that a peer sends beside its pictures or alone: stream 1 of its connection.
///
/// Belongs to the link's thread.
struct PeerAudio {
    /// Encodes what the host says to a source of sound.
    static let encoder = MessageEncoder(epoch: 0, stream: MessageHeader.soundStream)

    private let hub: TrackHub
    private let wake: EventFD
    /// The source that the hub knows; nil if the peer sends no sound, or if the hub has another source.
    private var source: LinkAudio?
    private var hasTried = false
    private var assembler = FrameAssembler(stream: MessageHeader.soundStream)
    private var clock = AudioClock()

    /// - Parameter wake: woken when a message for the peer waits.
    init(hub: TrackHub, wake: EventFD) {
        self.hub = hub
        self.wake = wake
    }

    /// Whether the peer is the hub's source.
    var isAttached: Bool { source != nil }
    /// How many packets could not be used.
    var faults: UInt64 { assembler.faults }

    /// Makes the peer the hub's source, on the first call, unless another source is there. Returns whether it is.
    mutating func attach(isReplay: Bool, now: MonotonicTime) -> Bool {
        guard !hasTried else { return isAttached }
        hasTried = true
        let source = LinkAudio(wake: wake, restsUnwatched: !isReplay)
        guard hub.attach(source, now: now) else { return false }
        self.source = source
        return true
    }

    /// Detaches the peer from the hub. Returns false if it wasn't the source.
    mutating func detach(reason: String, now: MonotonicTime) -> Bool {
        guard let source else { return false }
        self.source = nil
        hub.detach(source, reason: reason, now: now)
        return true
    }

    /// The messages that wait for the peer.
    func takeMessages() -> [LinkMessage] { source?.takeMessages() ?? [] }

    /// Takes a message of the stream, and delivers the packets that it completes. `pictures` knows the peer's clock.
    mutating func take(_ message: ReceivedMessage, _ pictures: inout PeerPictures, now: MonotonicTime) {
        guard let source else { return }
        if case .sharing(let state) = message.body {
            hub.sharingChanged(of: source, to: state, pausesItself: pictures.isReplay)
        }
        assembler.add(message, at: now)
        while let assembled = assembler.next() {
            let (frame, arrival) = placed(assembled.frame, &pictures, now)
            hub.deliver(frame, from: source, epoch: assembled.epoch, arrival: arrival)
        }
    }

    /// The packet with its capture time on our clock, and when it came. If the capture time isn't known, the packet
    /// claims none, and the time at which it came is evened out, because the timeline then places packets by that.
    private mutating func placed(
        _ frame: CodedFrame, _ pictures: inout PeerPictures, _ now: MonotonicTime
    ) -> (frame: CodedFrame, arrival: MonotonicTime) {
        guard let captured = frame.captureTime else { return (frame, now) }
        if let known = pictures.ours(captured, now) {
            return (frame.withCaptureTime(clock.place(captured, known: known)), now)
        }
        let place = clock.place(captured, arrival: now, lasting: frame.duration ?? .zero)
        return (frame.withoutCaptureTime, place)
    }
}
