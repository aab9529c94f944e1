/// The quantizers of H.264 with 8 bits a sample (ITU-T H.264 section 7.4.2.1.1): 0...51. Higher is coarser; each one up
/// makes the quantizer step size about 12 % larger.
public enum QP {
    /// The largest quantizer of 8-bit video, which has the lowest quality.
    public static let maximum = 51

    static func clamped(_ qp: Int) -> Int { min(max(qp, 0), maximum) }
}
