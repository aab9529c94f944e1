import MediaTypes
import OutputLife
import ScreenRelayKit
import Threading
import TrackHub

extension PushConnection {
    /// What a connection's thread and those that give it frames share.
    struct Shared {
        var queue = OutputQueue<TrackFrame>()
        var meter: OutputMeter
        var isClosing = false
        /// Whether frames are dropped because no receiver has connected yet.
        var isWaiting = false
        var thread: NamedThread?
        /// Nil once the attempt is over: its thread may still wait for a name, and must not keep an encoder.
        var source: PushSource?
        /// The frames of the track; nil if an encoder gives them, or once the attempt is over.
        var subscription: TrackSubscription?
        /// The packets of the track's sound; nil if only pictures are sent, or once the attempt is over.
        var sound: TrackSubscription?
        /// Ends the coming of an encoder's frames.
        var unsubscribe: (@Sendable () -> Void)?
        /// When the last key frame came, and how soon another is to follow, if it isn't one of the regular ones.
        var keyFrame: (at: MonotonicTime, next: Interval?)?
        /// Whether a key frame has come.
        var hasBegun = false
        /// Asks for the frame that the connection begins with.
        var start = StartRequest()
        /// When the source is asked for a picture, if none has come.
        var still: StillRhythm
        /// Whether it goes on without the sound that the track doesn't have yet.
        var lacksSound = false
        /// Whether pictures have come, though it goes on without.
        var lacksPictures = false
        /// Whether it has ended its file, because the pictures have another format now.
        var hasEndedFile = false

        /// Gives up what the attempt reads. The caller releases it after the lock, because its end tells others.
        mutating func takeInputs() -> (
            subscription: TrackSubscription?, sound: TrackSubscription?, unsubscribe: (@Sendable () -> Void)?,
            source: PushSource?
        ) {
            defer { (subscription, sound, unsubscribe, source) = (nil, nil, nil, nil) }
            return (subscription, sound, unsubscribe, source)
        }

        /// Takes the sound that has come; returns whether there is any. Whichever thread does that, it stays in order.
        mutating func takeSound(_ now: MonotonicTime) -> Bool {
            let packets = sound?.take() ?? []
            if isClosing || isWaiting { return false }
            for packet in packets { queue.add(packet, .sound, byteCount: packet.coded.bytes.count, at: now) }
            return !packets.isEmpty
        }

        /// What comes next; nil if that is to be waited for.
        mutating func next(_ now: MonotonicTime, silenceDue: MonotonicTime) -> Next? {
            if now >= silenceDue {
                // The control thread may be late.
                _ = takeSound(now)
                // Pictures that wait come before the silence behind them, as they do before sound.
                let until = now - queue.age(at: now)
                if until >= silenceDue, !queue.hasSound { return .silence(until: until) }
            }
            while let frame = queue.next() {
                // What waited while the sharer paused or muted is for nobody any more.
                let reader = frame.kind == .sound ? sound : subscription
                if reader?.shows(frame.element) == false { continue }
                if frame.kind != .sound { still.came(isKeyFrame: frame.kind == .keyFrame, at: now) }
                return .frame(frame.element)
            }
            return isClosing ? .end : nil
        }
    }

    /// What the thread does next.
    enum Next {
        case frame(TrackFrame)
        /// No sound has come for so long that it is silent.
        case silence(until: MonotonicTime)
        case end
    }
}
