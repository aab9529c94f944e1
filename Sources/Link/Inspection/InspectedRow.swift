import CaptureLink
public import H264
public import MediaTypes

/// One thing that an inspection found, in the order of the file.
public enum InspectedRow: Sendable {
    /// A message, or a NAL unit of an Annex B stream.
    case message(InspectedMessage)
    /// A picture that is complete; comes behind its last message.
    case picture(InspectedPicture)
    /// Something wrong; comes behind the message that it is about.
    case fault(InspectionFault)
    /// Something in a file beside messages and NAL units.
    case note(InspectedNote)
}

/// Something in a file beside messages and NAL units.
public struct InspectedNote: Hashable, Sendable {
    /// What, for programs; raw values stay as they are.
    public enum Code: String, Sendable {
        /// A connection of the link begins.
        case connection
        /// Bytes of an Annex B stream that belong to no NAL unit.
        case otherBytes
        /// The recorder ended in good order.
        case end
        /// A recording without that end: its recorder was killed, or still runs.
        case noEnd
    }

    public var code: Code
    /// Where it begins, in bytes from the file's first.
    public var offset: UInt64
    /// How many bytes it takes.
    public var size: UInt64
    /// When, since the recording began.
    public var time: Interval?

    /// For people; no full stop.
    public var words: String {
        switch code {
        case .connection: "a connection begins"
        case .otherBytes: "\(size) bytes that belong to no NAL unit"
        case .end: "the recording ends in good order"
        case .noEnd: "the recording has no end: its recorder was killed, or still runs"
        }
    }
}

/// A message, or a NAL unit of an Annex B stream. Holds none of its bytes.
public struct InspectedMessage: Sendable {
    /// Where it begins, in bytes from the file's or connection's first.
    public var offset: UInt64
    /// Bytes of its payload; in an Annex B stream all from its start code to the next.
    public var size: UInt64
    /// When it arrived, since the recording began; else when its picture was taken, since the first one. Nil where
    /// neither is known.
    public var time: Interval?
    /// When the picture was taken, on the sender's clock.
    public var captureTime: MonotonicTime?
    /// Byte 1 of its header; 0, a NAL unit, in legacy forms and Annex B.
    public var kindCode: UInt8
    /// The start of capture that it belongs to; 0 where there is none.
    public var epoch: UInt64
    /// Whether it says that it is the last of its access unit.
    public var endsAccessUnit: Bool
    /// Whether it comes out of an Annex B stream.
    public var isAnnexB = false
    /// Whether it went from the host to capture.
    public var isToCapture = false
    /// Of a NAL unit: what it holds; nil also where its forbidden bit is set.
    public var nalUnitType: NALUnitType?
    /// Of a NAL unit: nal_ref_idc.
    public var referenceIDC: UInt8?
    /// Of a slice: its header, where that can be read.
    public var slice: SliceHeader?
    /// Of a slice: SliceQPY.
    public var quantizer: Int?
    /// Of a slice: which picture it belongs to, from 0.
    public var picture: UInt64?
    /// What else a person wants to know of it.
    public var words: String
    /// Of a picture message: the damaged area.
    public var damage: PixelRectangle?

    /// The name of its kind, as Protocol/capture-link.md has it.
    public var kindName: String {
        MessageWords.name(ofKind: kindCode) ?? "kind \(kindCode)"
    }
}

/// A picture: one access unit's primary coded picture.
public struct InspectedPicture: Sendable {
    /// Counts the pictures of the file, from 0.
    public var number: UInt64
    /// Where its first message begins: that of its notice or parameter sets, where it has them.
    public var offset: UInt64
    /// Bytes of its NAL units, start codes, parameter sets and SEI included.
    public var size: UInt64 = 0
    /// When, as in ``InspectedMessage``; of its first slice.
    public var time: Interval?
    public var captureTime: MonotonicTime?
    /// Slices, of whatever kind.
    public var slices = 0
    /// The kinds of its slices.
    public var kinds: Set<SliceKind> = []
    public var isIDR = false
    /// nal_ref_idc of its first slice: 0 where no other picture refers to it.
    public var referenceIDC: UInt8 = 0
    /// frame_num.
    public var frameNumber: UInt32?
    /// PicOrderCnt: its place among the pictures since the last IDR picture, in order of output.
    public var orderCount: Int64?
    /// The least and the greatest SliceQPY of its slices.
    public var quantizers: ClosedRange<Int>?
    /// The part that changed since the picture before, where the sender told.
    public var damage: PixelRectangle?
    /// Its number as the sender counts, where it told.
    public var sequenceNumber: UInt64?

    /// `I`, `P` or `B`: the kind of slice that tells most, as `IDR` where it is an IDR picture.
    public var kindName: String {
        if isIDR { return "IDR" }
        for kind in [SliceKind.b, .p, .sp, .i, .si] where kinds.contains(kind) { return kind.description }
        return "?"
    }
}
