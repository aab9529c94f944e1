import MediaTypes
import OutputLife
import ScreenRelayKit
import Threading
import TrackHub

extension PushConnection {
    /// The state shared by a connection's thread and the threads that give it frames.
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
        /// Ends the subscription to an encoder's frames.
        var unsubscribe: (@Sendable () -> Void)?
        /// When the last key frame arrived, and how soon another is to follow, if it isn't one of the regular ones.
        var keyFrame: (at: MonotonicTime, next: Interval?)?
        /// Whether a key frame has arrived.
        var hasBegun = false
        /// Asks for the frame that the connection begins with.
        var start = StartRequest()
        /// When the source is asked for a picture, if none has come.
        var still: StillRhythm
        /// Whether the connection goes on without the sound that the track doesn't have yet.
        var lacksSound = false
        /// Whether pictures have arrived, though the connection goes on without them.
        var lacksPictures = false
        /// Whether the connection has ended its file, because the pictures have another format now.
        var hasEndedFile = false

        /// Gives up the attempt's inputs, to be released after the lock, because their ends notify other objects.
        mutating func takeInputs() -> (
            subscription: TrackSubscription?, sound: TrackSubscription?, unsubscribe: (@Sendable () -> Void)?,
            source: PushSource?
        ) {
            defer { (subscription, sound, unsubscribe, source) = (nil, nil, nil, nil) }
            return (subscription, sound, unsubscribe, source)
        }

        /// Queues the arrived sound, in order on whichever thread; returns whether there is any.
        mutating func takeSound(_ now: MonotonicTime) -> Bool {
            let packets = sound?.take() ?? []
            if isClosing || isWaiting { return false }
            for packet in packets { queue.add(packet, .sound, byteCount: packet.coded.bytes.count, at: now) }
            return !packets.isEmpty
        }

        /// The thread's next step; nil if it has to wait.
        mutating func next(_ now: MonotonicTime, silenceDue: MonotonicTime) -> Next? {
            if now >= silenceDue {
                // The control thread may be late.
                _ = takeSound(now)
                // Waiting pictures are sent before the silence after them, as they are before sound.
                let until = now - queue.age(at: now)
                if until >= silenceDue, !queue.hasSound { return .silence(until: until) }
            }
            while let frame = queue.next() {
                // A frame that waited while the sharer paused or muted is no longer sent.
                let reader = frame.kind == .sound ? sound : subscription
                if reader?.shows(frame.element) == false { continue }
                if frame.kind != .sound { still.came(isKeyFrame: frame.kind == .keyFrame, at: now) }
                return .frame(frame.element)
            }
            return isClosing ? .end : nil
        }
    }

    /// The thread's next step.
    enum Next {
        case frame(TrackFrame)
        /// No sound has come for so long that it is silent.
        case silence(until: MonotonicTime)
        case end
    }
}
