/// Writes the bits and exponential Golomb codes of an RBSP, and makes a NAL unit of it (ITU-T H.264 sections 7.2, 7.3.1
/// and 9.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount = 0

    init(reserving count: Int = 64) {
        bytes.reserveCapacity(count)
    }

    /// Removes everything that was written, but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        pending = 0
        pendingCount = 0
    }

    /// Writes u(n), where n is 0...32; ignores the higher bits of `value`.
    mutating func bits(_ value: UInt32, count: Int) {
        let count = max(0, min(32, count))
        pending = pending << UInt64(count) | UInt64(value) & ((1 << UInt64(count)) - 1)
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
        }
    }

    mutating func flag(_ value: Bool) { bits(value ? 1 : 0, count: 1) }

    /// Writes ue(v). A value above 2^31 - 2 is written as 2^31 - 2.
    mutating func unsignedExpGolomb(_ value: UInt32) {
        let code = min(value, 0x7FFF_FFFE) + 1
        let length = 32 - code.leadingZeroBitCount
        bits(0, count: length - 1)
        bits(code, count: length)
    }

    /// Writes se(v) (section 9.1.1). A value outside -2^30...2^30 is clamped to that range.
    mutating func signedExpGolomb(_ value: Int32) {
        let value = max(-(1 << 30), min(1 << 30, value))
        unsignedExpGolomb(value > 0 ? UInt32(2 * value - 1) : UInt32(-2 * value))
    }

    /// Writes the header of a P slice of a reference picture, with the deblocking filter off (section 7.3.3), for a
    /// stream that `SliceRewriter` can edit. If `qp` is nil, the slice uses the stream's initial one.
    mutating func predictedSliceHeader(
        _ sequence: SequenceParameterSet, _ picture: PictureParameterSet, firstMacroblock: Int, frameNumber: UInt32,
        qp: Int? = nil, references: SliceReferences = SliceReferences()
    ) {
        unsignedExpGolomb(UInt32(clamping: firstMacroblock))
        // slice_type 5: P, like all slices of this picture.
        unsignedExpGolomb(5)
        unsignedExpGolomb(UInt32(picture.id))
        bits(frameNumber, count: sequence.frameNumberBits)
        // num_ref_idx_active_override_flag
        flag(false)
        self.references(references)
        // slice_qp_delta, then disable_deblocking_filter_idc 1.
        signedExpGolomb(Int32(clamping: (qp ?? picture.initialQP) - picture.initialQP))
        unsignedExpGolomb(1)
    }

    /// Writes rbsp_trailing_bits(): a 1 bit, and then zeros up to the end of the byte.
    mutating func trailingBits() {
        bits(1, count: 1)
        if pendingCount > 0 { bits(0, count: 8 - pendingCount) }
    }

    /// Appends a NAL unit to `target`: `header`, and then the written bytes with emulation prevention. Returns the
    /// number of zeros at its end.
    @discardableResult
    func append(header: UInt8, to target: inout [UInt8]) -> Int {
        target.append(header)
        var zeros = 0
        for byte in bytes { Self.append(byte, after: &zeros, to: &target) }
        return zeros
    }

    /// Appends a NAL unit to `target`: `header`, the written bits, and then all of `payload`, which has emulation
    /// prevention, from bit `start` of its RBSP on. Whole slices are copied this way, so there is no copy in between.
    func append(header: UInt8, payload: ArraySlice<UInt8>, from start: Int, to target: inout [UInt8]) {
        var zeros = append(header: header, to: &target)
        var (bits, count) = (pending, pendingCount)
        var (left, sourceZeros) = (start, 0)
        for byte in payload {
            if sourceZeros >= 2, byte == 3 {
                sourceZeros = 0
                continue
            }
            sourceZeros = byte == 0 ? sourceZeros + 1 : 0
            let skipped = min(left, 8)
            left -= skipped
            bits = bits << UInt64(8 - skipped) | UInt64(byte) & (0xFF >> UInt64(skipped))
            count += 8 - skipped
            if count < 8 { continue }
            count -= 8
            Self.append(UInt8(truncatingIfNeeded: bits >> UInt64(count)), after: &zeros, to: &target)
        }
        // What comes after the stop bit isn't needed.
        let last = UInt8(truncatingIfNeeded: bits << UInt64(8 - count)) & ~(0xFF >> UInt8(count))
        if last != 0 { Self.append(last, after: &zeros, to: &target) }
    }

    @inline(__always)
    private static func append(_ byte: UInt8, after zeros: inout Int, to target: inout [UInt8]) {
        if zeros >= 2, byte <= 3 {
            target.append(3)
            zeros = 0
        }
        target.append(byte)
        zeros = byte == 0 ? zeros + 1 : 0
    }
}
