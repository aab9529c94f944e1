import Clocks
import MediaTypes
public import TrackHub

/// Reads a track's frames without waiting, for an application with a thread of its own that sends them elsewhere. It counts
/// as a viewer who can't draw the pointer, for as long as it lives. Any thread.
public final class TrackSubscription: Sendable {
    private let frames: FrameSubscription
    private let readers: PointerlessReaders

    init(_ hub: TrackHub, _ readers: PointerlessReaders, wake: @escaping @Sendable () -> Void) {
        self.readers = readers
        readers.applications(by: 1)
        frames = FrameSubscription(hub, wake: wake)
    }

    deinit {
        readers.applications(by: -1)
    }

    /// The frames since the last call, from a random access frame on. If too many have come, whole frames are missing up to
    /// the next random access frame, which shows as a gap in `TrackFrame.number`.
    public func take() -> [TrackFrame] { frames.reader.take() }
}
