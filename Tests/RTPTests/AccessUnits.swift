import MediaTypes
import RTP
import TestSupport

/// Access units for tests.
enum AccessUnits {
    /// An access unit of these NAL units.
    static func unit(_ nalUnits: [[UInt8]], isIDR: Bool = false, captureTime: MonotonicTime? = nil) -> CodedFrame {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for nalUnit in nalUnits {
            bytes += [0, 0, 0, 1]
            ranges.append(bytes.count..<(bytes.count + nalUnit.count))
            bytes += nalUnit
        }
        return CodedFrame(bytes: bytes, units: ranges, isRandomAccess: isIDR, captureTime: captureTime, format: nil)
    }

    /// A NAL unit of `count` bytes with this header.
    static func nalUnit(_ header: UInt8, count: Int, seed: UInt64 = 0) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return [header] + (1..<max(count, 1)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// The NAL units of an access unit.
    static func nalUnits(_ unit: CodedFrame) -> [[UInt8]] {
        unit.units.map { Array(unit.bytes[$0]) }
    }

    /// A whole Annex B stream, cut where a picture ends as far as a byte or two of each NAL unit tell.
    static func split(stream: [UInt8]) -> [CodedFrame] {
        var units: [CodedFrame] = []
        var pending: [[UInt8]] = []
        var hasSlice = false
        func finish() {
            guard !pending.isEmpty else { return }
            units.append(unit(pending, isIDR: pending.contains { ($0.first ?? 0) & 0x1F == 5 }))
            pending = []
            hasSlice = false
        }
        for nalUnit in annexB(stream) {
            let type = (nalUnit.first ?? 0) & 0x1F
            let isSlice = (1...5).contains(type)
            let isFirstSlice = isSlice && nalUnit.count > 1 && nalUnit[1] & 0x80 != 0
            if hasSlice, isFirstSlice || (6...9).contains(type) { finish() }
            pending.append(nalUnit)
            if isSlice { hasSlice = true }
        }
        finish()
        return units
    }

    private static func annexB(_ stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        var ends: [Int] = []
        var zeros = 0
        for (index, byte) in stream.enumerated() {
            if byte == 1, zeros >= 2 {
                if !starts.isEmpty { ends.append(index - zeros) }
                starts.append(index + 1)
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        ends.append(stream.count - zeros)
        return zip(starts, ends).compactMap { $0 < $1 ? Array(stream[$0..<$1]) : nil }
    }
}

extension ReceivedFrame {
    /// Whether it is complete.
    var isComplete: Bool { contents != nil }
    /// Its NAL units, without their start codes.
    var nalUnits: [[UInt8]] { (contents?.units ?? []).map { Array($0.dropFirst(4)) } }
}
