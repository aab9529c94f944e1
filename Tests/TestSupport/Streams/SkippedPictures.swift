public import MediaTypes

/// Access units that are small however large their pictures are: a grey IDR picture of one byte a macroblock, and
/// pictures of a few bytes each that are the same as the previous one.
public struct SkippedPictures {
    /// The pictures' size in macroblocks.
    public var columns: UInt32
    public var rows: UInt32
    /// max_num_ref_frames.
    public var references: UInt32
    /// chroma_format_idc.
    public var chromaFormat: UInt32 = 1
    public var bitDepth: UInt32 = 8

    private var frameNumber: UInt32 = 0

    /// Creates pictures of that many macroblocks, in a stream that keeps that many references.
    public init(columns: UInt32, rows: UInt32, references: UInt32) {
        self.columns = columns
        self.rows = rows
        self.references = references
    }

    /// The SPS, a NAL unit without a start code.
    public func sequenceParameterSet(id: UInt32 = 0) -> [UInt8] {
        var bits = Bits()
        // High 4:4:4 Predictive, which allows any chroma format.
        for byte: UInt32 in [244, 0, 60] { bits.append(byte, count: 8) }
        bits.exponentialGolomb(id)
        bits.exponentialGolomb(chromaFormat)
        if chromaFormat == 3 { bits.append(0, count: 1) }
        for _ in 0..<2 { bits.exponentialGolomb(bitDepth - 8) }
        bits.append(0, count: 2)
        // frame_num of 8 bits, output in decoding order.
        for value in [4, 2, references] { bits.exponentialGolomb(value) }
        bits.append(0, count: 1)
        for value in [columns - 1, rows - 1] { bits.exponentialGolomb(value) }
        // Frames only, direct_8x8_inference; neither cropping nor VUI.
        bits.append(0b1100, count: 4)
        return bits.unit(0x67)
    }

    /// The PPS that refers to the SPS with that id.
    public func pictureParameterSet(of sequence: UInt32 = 0) -> [UInt8] {
        var bits = Bits()
        for value in [0, sequence] { bits.exponentialGolomb(value) }
        // CAVLC, no field order, one slice group, one reference each way.
        bits.append(0b00111, count: 5)
        // No weights; QP 26 and no offsets; the slices control deblocking.
        bits.append(0, count: 3)
        bits.append(0b111, count: 3)
        bits.append(0b100, count: 3)
        return bits.unit(0x68)
    }

    /// The grey IDR picture; 4:2:0 only.
    public mutating func idrSlice() -> [UInt8] {
        frameNumber = 0
        var bits = sliceHeader(type: 7)
        // idr_pic_id, no_output_of_prior_pics, long_term_reference, slice_qp_delta 0, no deblocking.
        bits.append(0b1_0_0_1_010, count: 7)
        // I_16x16_2_0_0, DC for chroma, mb_qp_delta 0, no coefficients.
        for _ in 0..<columns * rows { bits.append(0b00100_1_1_1, count: 8) }
        return bits.unit(0x65)
    }

    /// A picture that is the same as the previous one.
    public mutating func skippedSlice() -> [UInt8] {
        frameNumber = (frameNumber + 1) & 0xFF
        var bits = sliceHeader(type: 5)
        // No override, no modification, no marking, slice_qp_delta 0, no deblocking.
        bits.append(0b0_0_0_1_010, count: 7)
        bits.exponentialGolomb(columns * rows)
        return bits.unit(0x61)
    }

    /// The access unit of the IDR picture, with its parameter sets.
    public mutating func idr() -> CodedFrame {
        Self.accessUnit([sequenceParameterSet(), pictureParameterSet(), idrSlice()], isIDR: true)
    }

    /// An access unit of `units`, each after a start code.
    public static func accessUnit(_ units: [[UInt8]], isIDR: Bool) -> CodedFrame {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for unit in units {
            bytes += [0, 0, 0, 1]
            ranges.append(bytes.count..<bytes.count + unit.count)
            bytes += unit
        }
        return CodedFrame(bytes: bytes, units: ranges, isRandomAccess: isIDR, captureTime: nil, format: nil)
    }

    private func sliceHeader(type: UInt32) -> Bits {
        var bits = Bits()
        for value in [0, type, 0] { bits.exponentialGolomb(value) }
        bits.append(frameNumber, count: 8)
        return bits
    }

    /// A bit writer of its own, so that our code isn't tested against itself.
    private struct Bits {
        private var bytes: [UInt8] = []
        private var count = 0

        mutating func append(_ value: UInt32, count: Int) {
            for shift in (0..<count).reversed() {
                if self.count % 8 == 0 { bytes.append(0) }
                if value >> UInt32(shift) & 1 == 1 { bytes[bytes.count - 1] |= 0x80 >> UInt8(self.count % 8) }
                self.count += 1
            }
        }

        mutating func exponentialGolomb(_ value: UInt32) {
            let length = 32 - (value + 1).leadingZeroBitCount
            append(0, count: length - 1)
            append(value + 1, count: length)
        }

        /// Returns the NAL unit: `header`, then the bits with the stop bit, and with emulation prevention bytes.
        func unit(_ header: UInt8) -> [UInt8] {
            var closed = self
            closed.append(1, count: 1)
            var result = [header]
            var zeros = 0
            for byte in closed.bytes {
                if zeros == 2, byte <= 3 {
                    result.append(3)
                    zeros = 0
                }
                zeros = byte == 0 ? zeros + 1 : 0
                result.append(byte)
            }
            return result
        }
    }
}
