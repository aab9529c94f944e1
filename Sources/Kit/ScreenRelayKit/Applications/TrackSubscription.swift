import Clocks
import MediaTypes
public import TrackHub

/// Reads a track's frames, or the packets of its sound, without waiting, for an application with a thread of its own
/// that sends them elsewhere. For as long as it lives it counts as a viewer who can't draw the pointer, or as a
/// listener. Any thread.
public final class TrackSubscription: Sendable {
    private let frames: FrameSubscription
    private let readers: PointerlessReaders?

    /// - Parameter readers: where it is counted as one that can't draw the pointer; nil for sound.
    init(_ hub: TrackHub, _ readers: PointerlessReaders? = nil, wake: @escaping @Sendable () -> Void) {
        self.readers = readers
        readers?.applications(by: 1)
        frames = FrameSubscription(hub, wake: wake)
    }

    deinit {
        readers?.applications(by: -1)
    }

    /// The frames since the last call, from a random access frame on. If too many have come, whole frames are missing
    /// up to the next random access frame, which shows as a gap in `TrackFrame.number`.
    public func take() -> [TrackFrame] { frames.reader.take() }

    /// Whether a frame that was taken may still be sent. Frames from before a pause may not.
    public func shows(_ frame: TrackFrame) -> Bool { frames.shows(frame) }
}
