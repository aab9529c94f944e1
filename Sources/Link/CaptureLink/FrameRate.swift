/// A number of pictures per unit of time.
public struct FrameRate: Hashable, Comparable, Sendable {
    /// Pictures per 1000 seconds.
    public var millihertz: UInt32

    /// Creates a rate in pictures per 1000 seconds.
    public init(millihertz: UInt32) {
        self.millihertz = millihertz
    }

    /// Creates a rate in pictures per second; clamped to 0...1000.
    public init(framesPerSecond: Int) {
        millihertz = UInt32(max(0, min(1000, framesPerSecond))) * 1000
    }

    public static func < (left: FrameRate, right: FrameRate) -> Bool { left.millihertz < right.millihertz }
}
