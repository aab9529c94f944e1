/// Makes slices fit into a picture that they were not coded for: another place, another frame number, and slices in which
/// nothing changes.
///
/// So one picture can be put together of slices of several encoders: a slice depends on no other slice of its picture but
/// by the deblocking filter, and in CAVLC its data is independent of where its bits begin. What it refers to is the
/// picture before, which all of them must have in common.
///
/// For streams of progressive frames with CAVLC, one reference frame and picture order by decoding order
/// (pic_order_cnt_type 2), whose deblocking filter is off. Not thread-safe: it keeps memory from slice to slice.
public final class SliceEditing {
    private let sequence: SequenceParameterSet
    private let picture: PictureParameterSet
    // Kept so that a picture needs no allocation.
    private var writer = BitWriter(reserving: 1 << 14)
    private var source: [UInt8] = []

    /// Only so many bytes at a slice's front are looked at.
    public static let prefixCount = 16

    /// Edits slices of the stream that these parameter sets begin; nil for a stream of another kind.
    public init?(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) {
        guard Self.edits(sequence, picture) else { return nil }
        self.sequence = sequence
        self.picture = picture
        source.reserveCapacity(1 << 14)
    }

    static func edits(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) -> Bool {
        sequence.isFrameOnly && !sequence.hasSeparateColourPlanes && sequence.pictureOrderCountType == 2
            && sequence.maximumReferenceFrames == 1 && !picture.usesCABAC && picture.sliceGroups == 1
            && !picture.hasRedundantPictures && picture.hasDeblockingControl
    }

    /// `frame_num` of the picture that follows one of this number.
    public func frameNumber(after number: UInt32) -> UInt32 {
        (number &+ 1) & ((1 << UInt32(sequence.frameNumberBits)) - 1)
    }

    /// Appends a slice NAL unit in which `count` macroblocks from `firstMacroblock` on stay as they are: all P_Skip.
    public func appendSkipped(
        firstMacroblock: Int, count: Int, frameNumber: UInt32, to target: inout [UInt8]
    ) {
        writer.removeAll()
        writer.predictedSliceHeader(sequence, picture, firstMacroblock: firstMacroblock, frameNumber: frameNumber)
        // mb_skip_run
        writer.unsignedExpGolomb(UInt32(clamping: count))
        writer.trailingBits()
        writer.append(header: Self.header, to: &target)
    }

    /// Appends `nalUnit`, a P slice of a stream with the parameters `origin`, as a slice of this stream that begins at
    /// `firstMacroblock`.
    public func appendMoved(
        _ nalUnit: [UInt8], from origin: SliceEditing, firstMacroblock: Int, frameNumber: UInt32,
        to target: inout [UInt8]
    ) throws(H264Error) {
        guard let header = nalUnit.first else { throw .truncated }
        source.removeAll(keepingCapacity: true)
        EmulationPrevention.remove(from: nalUnit[...].dropFirst(), into: &source)
        var reader = BitReader(source)
        _ = try reader.unsignedExpGolomb()
        let type = try reader.unsignedExpGolomb("slice_type", atMost: 9)
        let set = try reader.unsignedExpGolomb("pic_parameter_set_id", atMost: 255)
        guard type % 5 == 0 else { throw .outOfRange(element: "slice_type", value: Int64(type)) }
        _ = try reader.bits(origin.sequence.frameNumberBits)
        writer.removeAll()
        writer.unsignedExpGolomb(UInt32(clamping: firstMacroblock))
        writer.unsignedExpGolomb(5)
        writer.unsignedExpGolomb(UInt32(set))
        writer.bits(frameNumber, count: sequence.frameNumberBits)
        // The trailing one is the last that is set in the last byte; what stands before it is copied bit for bit.
        guard let last = source.lastIndex(where: { $0 != 0 }) else { throw .truncated }
        var left = reader.count - (source.count - 1 - last) * 8 - source[last].trailingZeroBitCount - 1
        while left >= 32 {
            writer.bits(try reader.bits(32), count: 32)
            left -= 32
        }
        guard left >= 0 else { throw .truncated }
        writer.bits(try reader.bits(left), count: left)
        writer.trailingBits()
        writer.append(header: header, to: &target)
    }

    /// The first bytes of a P slice's NAL unit with another frame number; nil where that would change how many there are,
    /// because of emulation prevention. `prefix` has at most `prefixCount` bytes.
    public func prefix(_ prefix: [UInt8], withFrameNumber number: UInt32) -> [UInt8]? {
        guard let header = prefix.first, prefix.count > 8, Self.isPlain(prefix) else { return nil }
        var reader = BitReader(Array(prefix.dropFirst()))
        var writer = BitWriter(reserving: prefix.count)
        do {
            writer.unsignedExpGolomb(try reader.unsignedExpGolomb())
            writer.unsignedExpGolomb(try reader.unsignedExpGolomb())
            writer.unsignedExpGolomb(try reader.unsignedExpGolomb())
            _ = try reader.bits(sequence.frameNumberBits)
            writer.bits(number, count: sequence.frameNumberBits)
            while reader.count > 0 { writer.bits(try reader.bits(1), count: 1) }
        } catch {
            return nil
        }
        let edited = [header] + writer.bytes
        return edited.count == prefix.count && Self.isPlain(edited) ? edited : nil
    }

    /// Whether no byte of it takes part in emulation prevention: no two zero bytes stand in a row.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        for (index, byte) in bytes.enumerated().dropLast() where byte == 0 && bytes[index + 1] == 0 { return false }
        // Zeros behind the end could follow the last one.
        return bytes.last != 0
    }

    /// A slice of a reference picture that is no IDR picture: nal_ref_idc 2, nal_unit_type 1.
    static let header: UInt8 = 0x41
}
