public import CaptureLink
import MediaTypes

/// The place and reason of a reading error. Everything before `offset` is complete and was returned.
public enum RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is empty.
    case empty
    /// The file doesn't begin like any of the three formats.
    case unrecognized(front: [UInt8])
    /// The file begins like a recording whose line ends were changed in transfer.
    case damagedByTextMode
    /// The file ends inside the recording's header, after `count` bytes.
    case cutInFileHeader(count: Int)
    /// The checksum of the recording's header is wrong.
    case fileHeaderCheck
    /// The recording has a version that this program doesn't know.
    case unknownVersion(UInt16)
    /// The file ends inside a record's header.
    case cutInRecordHeader(offset: UInt64, missing: Int)
    /// The file ends inside a record.
    case cutInRecord(offset: UInt64, missing: Int)
    /// A record should begin here, but its marker is missing.
    case recordMarkerMissing(offset: UInt64)
    /// The checksum of a record's header is wrong.
    case recordHeaderCheck(offset: UInt64)
    /// A record is longer than any message may be.
    case recordTooLong(offset: UInt64, length: UInt32, limit: Int)
    /// The checksum of a record's content is wrong.
    case recordCheck(offset: UInt64)
    /// A record is complete, but its content is invalid.
    case malformedRecord(offset: UInt64, problem: String)
    /// A message of a raw dump is invalid, for a reason for which the host would reject it too.
    case link(LinkError)
    /// An Annex B file has no start code where the first one should be.
    case startCodeMissing(offset: UInt64)
    /// A NAL unit of an Annex B file is longer than a message may be.
    case unitTooLong(offset: UInt64, limit: Int)

    /// The offset of the first byte that isn't part of a complete item.
    public var offset: UInt64 {
        switch self {
        case .empty, .unrecognized, .damagedByTextMode, .cutInFileHeader, .fileHeaderCheck, .unknownVersion: 0
        case .cutInRecordHeader(let offset, _), .cutInRecord(let offset, _), .recordMarkerMissing(let offset),
            .recordHeaderCheck(let offset), .recordTooLong(let offset, _, _), .recordCheck(let offset),
            .malformedRecord(let offset, _), .startCodeMissing(let offset), .unitTooLong(let offset, _):
            offset
        case .link(let error): error.offset
        }
    }

    /// Whether the file simply ends too early, as after a kill or on a full disk.
    public var isCut: Bool {
        switch self {
        case .cutInFileHeader, .cutInRecordHeader, .cutInRecord, .link(.endedInsideMessage): true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .empty: "the file is empty"
        case .unrecognized(let front):
            "neither a recording, nor messages of the link, nor H.264 in Annex B form: it begins with "
                + front.hexadecimal(separator: " ")
        case .damagedByTextMode: "a recording whose line ends were changed on its way here: copy it as binary data"
        case .cutInFileHeader(let count): "the file ends inside the recording's header, after \(count) bytes"
        case .fileHeaderCheck: "the recording's header is damaged (its check is wrong)"
        case .unknownVersion(let version): "a recording of version \(version); this program reads version 1"
        case .cutInRecordHeader(let offset, let missing), .cutInRecord(let offset, let missing):
            "the file ends inside the record at byte \(offset), \(missing) bytes before its end"
        case .recordMarkerMissing(let offset): "no record begins at byte \(offset), where one should"
        case .recordHeaderCheck(let offset):
            "the header of the record at byte \(offset) is damaged (its check is wrong)"
        case .recordTooLong(let offset, let length, let limit):
            "the record at byte \(offset) announces \(length) bytes; the limit is \(limit)"
        case .recordCheck(let offset): "the record at byte \(offset) is damaged (its check is wrong)"
        case .malformedRecord(let offset, let problem): "the record at byte \(offset) can't be read: \(problem)"
        case .link(.endedInsideMessage(let offset, let missing)):
            "the file ends inside the message at byte \(offset), at least \(missing) bytes before its end"
        case .link(let error): "\(error)"
        case .startCodeMissing(let offset):
            "no start code (00 00 01) where the first NAL unit should begin, at byte \(offset)"
        case .unitTooLong(let offset, let limit):
            "the NAL unit at byte \(offset) has more than \(limit) bytes, the most that a message holds"
        }
    }
}

extension LinkError {
    /// The offset at which the faulty message begins.
    public var offset: UInt64 {
        switch self {
        case .notAMessage(let offset, _), .unitTooLong(_, _, let offset), .unitTooShort(_, let offset),
            .startCodeMissing(let offset), .controlMessageTooLong(_, _, _, let offset), .malformed(_, _, let offset),
            .endedInsideMessage(let offset, _):
            offset
        }
    }
}
