import Synchronization

/// The check of a frame's picture by those viewers that asked for it. It travels with the frame, and gets the picture's
/// samples once the host has decoded the frame too.
public final class PictureCheck: Sendable {
    private let state: Mutex<PictureSamples?>

    /// A check with the samples of a picture that is known, or one that waits for them.
    public init(_ samples: PictureSamples? = nil) { state = Mutex(samples) }

    /// The samples; nil before they are known. Once known, they stay, because packets that have them may be sent again.
    public var samples: PictureSamples? { state.withLock { $0 } }

    /// Sets the samples, unless they are known already.
    public func set(_ samples: PictureSamples) { state.withLock { $0 = $0 ?? samples } }
}

/// Chooses the frames of a stream whose pictures are checked: key frames, and one a second of the others.
public struct PictureChecks: Sendable {
    private static let interval = Interval.seconds(1)
    private var last: MonotonicTime?

    /// Checks that begin with the next frame.
    public init() {}

    /// Whether the frame that came at `arrival` is checked.
    public mutating func takes(isKeyFrame: Bool, arrival: MonotonicTime) -> Bool {
        guard isKeyFrame || last.map({ arrival - $0 >= Self.interval }) ?? true else { return false }
        last = arrival
        return true
    }
}
