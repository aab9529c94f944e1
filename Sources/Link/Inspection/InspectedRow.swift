import CaptureLink
public import H264
public import MediaTypes

/// One result of an inspection. Results come in file order.
public enum InspectedRow: Sendable {
    /// A message, or a NAL unit of an Annex B stream.
    case message(InspectedMessage)
    /// A complete picture; it comes after its last message.
    case picture(InspectedPicture)
    /// A fault; it comes after the message that it is about.
    case fault(InspectionFault)
    /// Something in a file other than messages and NAL units.
    case note(InspectedNote)
}

/// Something in a file other than messages and NAL units.
public struct InspectedNote: Hashable, Sendable {
    /// The kind of note, for programs; raw values never change.
    public enum Code: String, Sendable {
        /// A connection of the link begins.
        case connection
        /// Bytes of an Annex B stream that belong to no NAL unit.
        case otherBytes
        /// The recording ended regularly.
        case end
        /// The recording has no end record: its recorder was killed or is still running.
        case noEnd
    }

    /// What the row is about.
    public var code: Code
    /// The file offset at which it begins.
    public var offset: UInt64
    /// The number of bytes that it takes.
    public var size: UInt64
    /// The time since the recording began.
    public var time: Interval?

    /// A description for people, without a full stop.
    public var text: String {
        switch code {
        case .connection: "a connection begins"
        case .otherBytes: "\(size) bytes that belong to no NAL unit"
        case .end: "the recording ends in good order"
        case .noEnd: "the recording has no end: its recorder was killed, or still runs"
        }
    }
}

/// A message, or a NAL unit of an Annex B stream, without its bytes.
public struct InspectedMessage: Sendable {
    /// The offset at which it begins in the file or connection.
    public var offset: UInt64
    /// The number of payload bytes; in an Annex B stream, all bytes from its start code to the next one.
    public var size: UInt64
    /// The arrival time since the recording began, or else the capture time since the first one. Nil if neither is
    /// known.
    public var time: Interval?
    /// The time at which the picture was captured, on the sender's clock.
    public var captureTime: MonotonicTime?
    /// Byte 1 of its header; 0 (a NAL unit) in legacy forms and Annex B.
    public var kindCode: UInt8
    /// The epoch, which identifies the start of capture that it belongs to; 0 if there is none.
    public var epoch: UInt64
    /// Whether it is marked as the last of its access unit.
    public var endsFrame: Bool
    /// The stream of the link: 0 for pictures, 1 for sound.
    public var stream: UInt8 = 0
    /// For a packet of sound, how long it is.
    public var duration: Interval?
    /// Whether it comes from an Annex B stream.
    public var isAnnexB = false
    /// Whether it was sent from the host to the capture.
    public var isToCapture = false
    /// For a NAL unit, its type; nil if its forbidden bit is set.
    public var nalUnitType: NALUnitType?
    /// For a NAL unit, nal_ref_idc.
    public var referenceIDC: UInt8?
    /// For a slice, its header if it can be read.
    public var slice: SliceHeader?
    /// For a slice, SliceQPY.
    public var qp: Int?
    /// For a slice, the number of its picture, counted from 0.
    public var picture: UInt64?
    /// Further information for people.
    public var text: String
    /// For a picture message, the damaged area.
    public var damage: PixelRectangle?

    /// The name of its kind, as in Protocol/capture-link.md.
    public var kindName: String {
        MessageFormatter.name(ofKind: kindCode) ?? "kind \(kindCode)"
    }
}

/// A picture: the primary coded picture of one access unit.
public struct InspectedPicture: Sendable {
    /// The number of the picture in the file, counted from 0.
    public var number: UInt64
    /// The offset of its first message, which may be its picture message or a parameter set.
    public var offset: UInt64
    /// The number of bytes in its NAL units, including start codes, parameter sets and SEI.
    public var size: UInt64 = 0
    /// The time of its first slice, as in ``InspectedMessage``.
    public var time: Interval?
    /// The capture time in its messages, on the sender's clock; nil if they have none.
    public var captureTime: MonotonicTime?
    /// The number of slices of any kind.
    public var slices = 0
    /// The kinds of its slices.
    public var kinds: Set<SliceKind> = []
    /// Whether it is an IDR picture.
    public var isIDR = false
    /// nal_ref_idc of its first slice; 0 if no other picture refers to it.
    public var referenceIDC: UInt8 = 0
    /// frame_num.
    public var frameNumber: UInt32?
    /// PicOrderCnt: its place in output order among the pictures since the last IDR picture.
    public var orderCount: Int64?
    /// The smallest and largest SliceQPY of its slices.
    public var qps: ClosedRange<Int>?
    /// The area that changed since the previous picture, if the sender gave it.
    public var damage: PixelRectangle?
    /// Its number in the sender's count, if the sender gave it.
    public var sequenceNumber: UInt64?

    /// `IDR` for an IDR picture, otherwise the most general kind of its slices: `B`, `P`, `SP`, `I` or `SI`.
    public var kindName: String {
        if isIDR { return "IDR" }
        for kind in [SliceKind.b, .p, .sp, .i, .si] where kinds.contains(kind) { return kind.description }
        return "?"
    }
}
