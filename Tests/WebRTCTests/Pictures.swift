import H264
import MediaTypes
import RTP
import TestSupport
import WebRTC

/// Access units for tests: the NAL units' headers are right, what is behind them is random.
enum Pictures {
    /// An IDR picture of about `byteCount` bytes, behind SPS and PPS.
    static func idr(
        _ byteCount: Int = 200_000, seed: UInt64 = 1, captured: MonotonicTime? = nil, profile: UInt8 = 0x42,
        level: UInt8 = 0x1F
    ) -> CodedFrame {
        let parameterSets: [[UInt8]] = [
            [0x67, profile, 0xC0, level, 0xDA, 0x01, 0x40, 0x16], [0x68, 0xCE, 0x3C, 0x80],
        ]
        return unit(parameterSets + [slice(0x65, byteCount, seed: seed)], captured: captured)
    }

    /// A P picture of `byteCount` bytes.
    static func delta(_ byteCount: Int, seed: UInt64, captured: MonotonicTime? = nil) -> CodedFrame {
        unit([slice(0x41, byteCount, seed: seed)], captured: captured)
    }

    private static func unit(_ nalUnits: [[UInt8]], captured: MonotonicTime?) -> CodedFrame {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for nalUnit in nalUnits {
            bytes += [0, 0, 0, 1]
            ranges.append(bytes.count..<bytes.count + nalUnit.count)
            bytes += nalUnit
        }
        return CodedFrame(h264: bytes, units: ranges, captureTime: captured)
    }

    private static func slice(_ header: UInt8, _ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        var bytes = [header]
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            var word = random.next()
            withUnsafeBytes(of: &word) { bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - max(count, 1))
        return bytes
    }
}

extension CodedFrame {
    /// What a receiver makes of it.
    var contents: [[UInt8]] { units.map { Array(bytes[$0]) } }
}

extension ReceivedFrame {
    /// Whether it is complete.
    var isComplete: Bool { contents != nil }
    /// Its NAL units, without their start codes.
    var nalUnits: [[UInt8]] { (contents?.units ?? []).map { Array($0.dropFirst(4)) } }
}

extension PublishedFrame {
    /// Its NAL units, without their start codes.
    var nalUnits: [[UInt8]] { units.map { Array($0.dropFirst(4)) } }
}
