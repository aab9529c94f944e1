import MediaTypes

/// Notices that a source's frames come in another order than they are shown, though it doesn't say so. A value without
/// I/O.
struct FrameOrder {
    /// B-frames step back again and again; a clock that is set does so once.
    private static let steps = 4
    private static let frames = 48

    private var last: Interval?
    private var stepsBack = 0
    private var count = 0
    /// Whether they do.
    private(set) var isMixed = false

    /// Notes when the next frame is shown on the source's clock; nil if it has no time.
    mutating func note(_ time: Interval?) {
        guard let time else { return }
        if let last, time < last { stepsBack += 1 }
        last = time
        isMixed = isMixed || stepsBack >= Self.steps
        count += 1
        if count % Self.frames == 0 { stepsBack = 0 }
    }
}
