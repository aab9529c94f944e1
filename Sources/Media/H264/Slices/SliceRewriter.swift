/// Adapts slices to a picture that they were not coded for: changes their position and frame number, and writes slices
/// in which nothing changes.
///
/// This makes it possible to assemble one picture from the slices of several encoders. A slice depends on the other
/// slices of its picture only through the deblocking filter, and CAVLC data doesn't depend on its bit position. All the
/// encoders must have the same previous picture, because the slices refer to it.
///
/// The stream must have progressive frames, CAVLC, one reference for each slice, output order equal to decoding order
/// (pic_order_cnt_type 2) and no deblocking. Not thread-safe: it reuses its memory for every slice.
public final class SliceRewriter {
    private let sequence: SequenceParameterSet
    private let picture: PictureParameterSet
    /// What the slices of the picture refer to, all of them alike.
    public var references = SliceReferences()
    // Reused so that a picture needs no allocation.
    private var writer = BitWriter(reserving: 1 << 14)

    /// The number of bytes at the front of a slice that hold what is edited, at most.
    public static let prefixCount = 16

    /// Creates a rewriter for the stream with these parameter sets; nil if it can't edit this kind of stream.
    public init?(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) {
        guard Self.supports(sequence, picture) else { return nil }
        self.sequence = sequence
        self.picture = picture
    }

    static func supports(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet) -> Bool {
        sequence.isFrameOnly && !sequence.hasSeparateColourPlanes && sequence.pictureOrderCountType == 2
            && picture.defaultReferences0 == 1 && !picture.usesCABAC && picture.sliceGroups == 1
            && !picture.hasRedundantPictures && picture.hasDeblockingControl
    }

    /// The `frame_num` of the picture that follows one with this number.
    public func frameNumber(after number: UInt32) -> UInt32 {
        (number &+ 1) & ((1 << UInt32(sequence.frameNumberBits)) - 1)
    }

    /// Appends a slice NAL unit in which `count` macroblocks from `firstMacroblock` on don't change: all are P_Skip.
    public func appendSkipped(
        firstMacroblock: Int, count: Int, frameNumber: UInt32, to target: inout [UInt8]
    ) {
        writer.removeAll()
        writer.predictedSliceHeader(
            sequence, picture, firstMacroblock: firstMacroblock, frameNumber: frameNumber, references: references)
        // mb_skip_run
        writer.unsignedExpGolomb(UInt32(clamping: count))
        writer.trailingBits()
        writer.append(header: Self.header, to: &target)
    }

    /// Appends `nalUnit`, a slice of the stream that `origin` edits, as a slice of this stream that begins at
    /// `firstMacroblock`: a P slice, or with `idrPictureID` (idr_pic_id, which must differ from that of the IDR picture
    /// before if no picture is between them) a slice of an IDR picture. Throws ``H264Error`` if `nalUnit` isn't such a
    /// slice, or if its header has what this stream's slices can't.
    public func appendRelocated(
        _ nalUnit: [UInt8], from origin: SliceRewriter, firstMacroblock: Int, frameNumber: UInt32,
        idrPictureID: UInt32? = nil, to target: inout [UInt8]
    ) throws(H264Error) {
        guard let header = nalUnit.first else { throw .truncated }
        let kind = NALUnitHeader(header)?.type
        guard kind == (idrPictureID == nil ? .nonIDRSlice : .idrSlice) else { throw .unexpectedType(kind) }
        var reader = BitReader(EmulationPrevention.removed(from: nalUnit.prefix(Self.prefixCount).dropFirst()))
        let length = reader.count
        _ = try reader.unsignedExpGolomb()
        let type = try reader.unsignedExpGolomb("slice_type", atMost: 9)
        let set = try reader.unsignedExpGolomb("pic_parameter_set_id", atMost: 255)
        // P is 0 and I is 2; 5 more say that all slices of the picture are alike.
        guard type % 5 == (idrPictureID == nil ? 0 : 2) else {
            throw .outOfRange(element: "slice_type", value: Int64(type))
        }
        _ = try reader.bits(origin.sequence.frameNumberBits)
        writer.removeAll()
        writer.unsignedExpGolomb(UInt32(clamping: firstMacroblock))
        writer.unsignedExpGolomb(UInt32(type % 5 + 5))
        writer.unsignedExpGolomb(UInt32(set))
        writer.bits(frameNumber, count: sequence.frameNumberBits)
        if let idrPictureID {
            _ = try reader.unsignedExpGolomb("idr_pic_id", atMost: 65_535)
            writer.unsignedExpGolomb(idrPictureID)
        } else {
            // num_ref_idx_active_override_flag, ref_pic_list_modification_flag_l0, adaptive_ref_pic_marking_mode_flag.
            let flags = try reader.bits(3)
            guard flags == 0 else { throw .outOfRange(element: "the references of a slice", value: Int64(flags)) }
            writer.flag(false)
            writer.references(references)
        }
        writer.append(header: header, payload: nalUnit.dropFirst(), from: length - reader.count, to: &target)
    }

    /// The first bytes of a P slice's NAL unit with another frame number. Nil if emulation prevention or `references`
    /// would change their number. `prefix` has at most `prefixCount` bytes.
    public func prefix(_ prefix: [UInt8], withFrameNumber number: UInt32) -> [UInt8]? {
        guard let header = prefix.first, prefix.count > 8, references == SliceReferences(), Self.isPlain(prefix) else {
            return nil
        }
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

    /// Whether none of the bytes takes part in emulation prevention: there are no two zero bytes in a row.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        for (index, byte) in bytes.enumerated().dropLast() where byte == 0 && bytes[index + 1] == 0 { return false }
        // A zero byte at the end could be followed by more zeros.
        return bytes.last != 0
    }

    /// The header of a non-IDR slice of a reference picture: nal_ref_idc 2, nal_unit_type 1.
    static let header: UInt8 = 0x41
}
