import Glibc
public import MediaTypes

extension I420Picture {
    /// A slanted pattern, which another `shade` makes brighter, and which differs from its mirror image.
    public static func slanted(_ size: PictureSize, shade: Int) -> I420Picture {
        var bytes: [UInt8] = []
        for row in 0..<size.height {
            for column in 0..<size.width { bytes.append(UInt8(shade + (row + column) / 4 % 40)) }
        }
        let chroma = (size.width + 1) / 2 * ((size.height + 1) / 2)
        bytes += [UInt8](repeating: UInt8(shade), count: chroma) + [UInt8](repeating: 128, count: chroma)
        return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    /// The peak signal-to-noise ratio in dB; 0 if the sizes differ.
    public func likeness(to other: I420Picture) -> Double {
        guard size == other.size, bytes.count == other.bytes.count else { return 0 }
        var sum = 0
        for (left, right) in zip(bytes, other.bytes) { sum += (Int(left) - Int(right)) * (Int(left) - Int(right)) }
        return sum == 0 ? 100 : 10 * log10(255 * 255 * Double(bytes.count) / Double(sum))
    }
}
