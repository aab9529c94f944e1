/// Decides which stretches of 20 ms are worth a packet: none once there has been digital silence for 300 ms.
///
/// So the last packets before a gap are silence, and nothing is cut off.
public struct SilenceGate {
    /// Silent stretches in a row. Before the first sound, silence is worth nothing.
    private var silentCount = SilenceGate.passedCount + 1
    private static let passedCount = 15

    /// Samples below this limit, 90 dB below full scale, are silence.
    static let threshold: Float = 3.16e-5

    /// A gate that has heard nothing yet.
    public init() {}

    /// Whether a stretch with these samples is to be sent.
    public mutating func passes(_ samples: [Float]) -> Bool {
        if samples.withUnsafeBufferPointer({ Self.isSilent($0) }) {
            silentCount = min(silentCount + 1, Self.passedCount + 1)
        } else {
            silentCount = 0
        }
        return silentCount <= Self.passedCount
    }

    /// Whether all samples are silence.
    public static func isSilent(_ samples: UnsafeBufferPointer<Float>) -> Bool {
        samples.allSatisfy { abs($0) < threshold }
    }
}
