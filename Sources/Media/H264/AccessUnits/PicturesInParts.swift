public import MediaTypes

/// Joins key frames that arrive in parts: if parameter sets stand between the slices of a picture, as some payloaders
/// put them, parsers take the next slices for another picture.
///
/// Only the next frame shows whether a picture is whole. So the first key frame is held back, and all others once one
/// has arrived in parts. A value without I/O.
public struct PicturesInParts<Tag: Sendable>: Sendable {
    /// The most bytes of a picture; further parts are left out.
    private static var maxBytes: Int { 8 << 20 }

    /// Whether a picture has arrived in parts so far.
    public private(set) var haveCome = false
    /// The parts without the picture that they belong to, which has gone already.
    public private(set) var strayParts = 0
    private var held: (frame: CodedFrame, tag: Tag)?
    private var hasKeyFrame = false

    public init() {}

    /// Accepts the next frame and its tag, and returns the whole frames with their tags, in order.
    public mutating func add(_ frame: CodedFrame, _ tag: Tag) -> [(frame: CodedFrame, tag: Tag)] {
        guard !Self.isFurtherPart(frame) else {
            haveCome = true
            if let before = held { held = (Self.join(before.frame, frame), before.tag) } else { strayParts += 1 }
            return []
        }
        let whole = finish()
        guard frame.isRandomAccess, haveCome || !hasKeyFrame else { return whole + [(frame, tag)] }
        hasKeyFrame = true
        held = (frame, tag)
        return whole
    }

    /// Returns the frame held back, at the end.
    public mutating func finish() -> [(frame: CodedFrame, tag: Tag)] {
        defer { held = nil }
        return held.map { [$0] } ?? []
    }

    /// Whether the first slice of a frame isn't the first one of a picture.
    private static func isFurtherPart(_ frame: CodedFrame) -> Bool {
        let slice = frame.units.first { NALUnitHeader(frame.bytes[$0.lowerBound])?.type.beginsWithSliceHeader == true }
        // first_mb_in_slice, ue(v), is 0 if its first bit is 1 (ITU-T H.264 section 7.3.3).
        return slice.map { $0.count > 1 && frame.bytes[$0.lowerBound + 1] & 0x80 == 0 } ?? false
    }

    /// The picture with the slices of its next part, whose parameter sets repeat the picture's.
    private static func join(_ frame: CodedFrame, _ part: CodedFrame) -> CodedFrame {
        guard frame.bytes.count + part.bytes.count <= maxBytes else { return frame }
        var (bytes, units) = (frame.bytes, frame.units)
        for unit in part.units where NALUnitHeader(part.bytes[unit.lowerBound])?.type.isSlice == true {
            bytes += AnnexB.startCode
            units.append(bytes.count..<bytes.count + unit.count)
            bytes += part.bytes[unit]
        }
        return CodedFrame(
            bytes: bytes, units: units, isRandomAccess: frame.isRandomAccess, captureTime: frame.captureTime,
            format: frame.format, attachment: frame.attachment)
    }
}
