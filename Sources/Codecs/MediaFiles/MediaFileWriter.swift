public import MediaTypes

/// Writes one H.264 track into a file that players know; nothing is encoded again.
///
/// Each packet has its own time, so a rate that varies stays as it was. One thread at a time; `finish` makes the file
/// whole, and without it the file is of no use. Closes the file when it goes.
public final class MediaFileWriter {
    private let writer: any MediaFormatWriter
    private var isOpen = true

    /// Creates the file, or empties the one that is there, and writes its front.
    public init(path: String, container: MediaContainer, track: MediaTrack) throws(MediaFileError) {
        guard let configuration = DecoderConfiguration(track.parameterSets) else {
            throw .rejected(reason: "its parameter sets can't be read")
        }
        switch container {
        case .mp4: writer = try MP4Writer(path: path, track: track, configuration: configuration)
        case .matroska: writer = try MatroskaWriter(path: path, track: track, configuration: configuration)
        }
    }

    /// Writes one access unit; they come in the order of decoding.
    ///
    /// - Throws: also where an earlier one could not be written, since the system may say so late.
    public func write(_ unit: consuming MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        let times = MediaTimes(decoding: unit.decodingTime, presentation: unit.presentationTime)
        let isKey = unit.accessUnit.isIDR
        try writer.write(Self.lengthPrefixed(Self.accessUnit(consume unit)), times, isKey: isKey)
    }

    /// Writes what the file needs at its end, and closes it.
    public func finish() throws(MediaFileError) {
        guard isOpen else { return }
        isOpen = false
        try writer.finish()
    }

    /// Each NAL unit behind its length (ISO/IEC 14496-15 section 4.3.3): the library would make a copy of Annex B to do
    /// that. In the unit's own memory, where nobody else has it and start codes of four bytes are all that is between.
    private static func lengthPrefixed(_ unit: consuming AccessUnit) -> [UInt8] {
        let ranges = unit.nalUnits
        var bytes = Self.bytes(consume unit)
        var end = 0
        let isDense = ranges.allSatisfy { range in
            defer { end = range.upperBound }
            return range.lowerBound == end + 4
        }
        if isDense, end == bytes.count {
            for range in ranges { write(range.count, to: &bytes, at: range.lowerBound - 4) }
            return bytes
        }
        var whole: [UInt8] = []
        whole.reserveCapacity(ranges.reduce(0) { $0 + $1.count + 4 })
        for range in ranges {
            whole += [0, 0, 0, 0]
            write(range.count, to: &whole, at: whole.count - 4)
            whole += bytes[range]
        }
        return whole
    }

    // What is left of a value that was taken apart would keep its bytes from being changed in place.
    private static func accessUnit(_ packet: consuming MediaPacket) -> AccessUnit { packet.accessUnit }
    private static func bytes(_ unit: consuming AccessUnit) -> [UInt8] { unit.bytes }

    private static func write(_ length: Int, to bytes: inout [UInt8], at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }
}

/// A format of files.
public enum MediaContainer: Sendable {
    /// ISO/IEC 14496-14. Its times are of 90 kHz here; with hours between two pictures of 10 kHz, with days of 1 kHz.
    case mp4
    /// Matroska (RFC 9559). Its times are whole milliseconds here.
    case matroska
}

/// When a picture is decoded and shown, since the track's beginning.
struct MediaTimes {
    let decoding: Interval
    let presentation: Interval
}

/// What writes one kind of file.
protocol MediaFormatWriter: AnyObject {
    /// Writes a picture: NAL units behind lengths of four bytes.
    func write(_ bytes: consuming [UInt8], _ times: MediaTimes, isKey: Bool) throws(MediaFileError)
    /// Writes what the file needs at its end, and closes it.
    func finish() throws(MediaFileError)
}

/// An H.264 track.
public struct MediaTrack: Sendable {
    /// The SPS and PPS that hold at its beginning, without start codes.
    public var parameterSets: [[UInt8]]
    /// The visible size.
    public var size: PictureSize
    /// Whether access units further on carry other parameter sets: the track is then marked as one whose samples have
    /// their own (avc3 of ISO/IEC 14496-15).
    public var changesParameterSets: Bool
    /// No packet is decoded later behind the one in front of it, and none is shown later behind its decoding: the longer it
    /// is, the coarser are the times of a format that counts them with few bits.
    public var longestStep: Interval
    /// How long the picture is shown that is shown last; all others are until the next one.
    public var lastDuration: Interval

    /// A track with these parts.
    public init(
        parameterSets: [[UInt8]], size: PictureSize, changesParameterSets: Bool, longestStep: Interval,
        lastDuration: Interval
    ) {
        self.parameterSets = parameterSets
        self.size = size
        self.changesParameterSets = changesParameterSets
        self.longestStep = longestStep
        self.lastDuration = lastDuration
    }
}

/// An access unit and its times, all since the track's beginning.
public struct MediaPacket: Sendable {
    public var accessUnit: AccessUnit
    /// Never before that of the packet in front; may be negative.
    public var decodingTime: Interval
    /// Never before `decodingTime`.
    public var presentationTime: Interval

    /// An access unit with these times.
    public init(accessUnit: AccessUnit, decodingTime: Interval, presentationTime: Interval) {
        self.accessUnit = accessUnit
        self.decodingTime = decodingTime
        self.presentationTime = presentationTime
    }
}
