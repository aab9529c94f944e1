/// NAL units that x264 made, without start codes; what they say was read with ffprobe.
enum Samples {
    /// Constrained Baseline, level 4, 1920x1080, full range, BT.709, no reordering.
    static let baselineSPS = bytes("6742c028d900780227e5c05b808080a0000003002000000781e30649")
    static let baselinePPS = bytes("68cb83cb20")
    static let baselineIDR = bytes("65888419f1088aa830217e02")
    static let baselineP = ["419a383bf9e1000214924202", "419a540ee66f82011801a32b", "419a6021ca5fc4f0c8441260"].map(
        bytes)

    /// High, level 3, 640x360, two B pictures.
    static let highSPS = bytes("6764001eacd940a02ff970110000030001000003003c0f162d96")
    static let highPPS = bytes("68ebe3cb22c0")

    /// Main, level 3.2, 1280x720, interlaced tools, NAL HRD; two slices a picture.
    static let interlacedSPS = bytes("674d4020f200a0177e5c04400000030040000 00f1898003d090007a12930c03e2c5c90")
    static let interlacedPPS = bytes("68fb83cb20")
    static let interlacedSlices = [
        "6588822c19ff577e79cb5264", "650078222 08b02fff6db5bf3", "419a237919ffbb3baf76607f", "4100782688de42fffed5e0bc",
    ].map(bytes)

    /// The bytes that hexadecimal digits spell; anything else is passed over.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
