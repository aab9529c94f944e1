public import MediaTypes

/// Writes one H.264 track into a container file that players can open, without re-encoding.
///
/// Each packet has its own time, so a variable frame rate is kept. May be used from one thread at a time. The file is
/// unusable until `finish` has completed it. The file is closed when the writer is released.
public final class MediaFileWriter {
    private let writer: any MediaFormatWriter
    private var isOpen = true

    /// Creates the file, or truncates an existing one, and writes the header.
    public init(path: String, container: MediaContainer, track: MediaTrack) throws(MediaFileError) {
        guard let configuration = DecoderConfiguration(track.parameterSets) else {
            throw .rejected(reason: "its parameter sets can't be read")
        }
        switch container {
        case .mp4: writer = try MP4Writer(path: path, track: track, configuration: configuration)
        case .matroska: writer = try MatroskaWriter(path: path, track: track, configuration: configuration)
        }
    }

    /// Writes one access unit. Access units must be in decoding order.
    ///
    /// - Throws: ``MediaFileError``. The error may be about an earlier access unit, because the system may report it
    ///   late.
    public func write(_ unit: consuming MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        let times = MediaTimes(decoding: unit.decodingTime, presentation: unit.presentationTime)
        let isKey = unit.accessUnit.isRandomAccess
        try writer.write(Self.lengthPrefixed(Self.accessUnit(consume unit)), times, isKey: isKey)
    }

    /// Writes the end of the file, and closes it.
    public func finish() throws(MediaFileError) {
        guard isOpen else { return }
        isOpen = false
        try writer.finish()
    }

    /// The access unit with a four-byte length before each NAL unit instead of a start code (ISO/IEC 14496-15 section
    /// 4.3.3).
    ///
    /// libavformat would make a copy of the Annex B form to convert it. Here the conversion happens in place if the
    /// memory is not shared and the NAL units are separated only by four-byte start codes.
    private static func lengthPrefixed(_ unit: consuming CodedFrame) -> [UInt8] {
        let ranges = unit.units
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

    // These functions consume the whole value. A remaining part would still refer to the bytes and cause a copy on
    // write.
    private static func accessUnit(_ packet: consuming MediaPacket) -> CodedFrame { packet.accessUnit }
    private static func bytes(_ unit: consuming CodedFrame) -> [UInt8] { unit.bytes }

    private static func write(_ length: Int, to bytes: inout [UInt8], at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }
}

/// A container format.
public enum MediaContainer: Sendable {
    /// MP4 (ISO/IEC 14496-14). The clock is 90 kHz; if pictures are hours apart, it is 10 kHz, and if they are days
    /// apart, 1 kHz.
    case mp4
    /// Matroska (RFC 9559). Times are rounded to whole milliseconds.
    case matroska
}

/// The decoding and presentation time of a picture, from the beginning of the track.
struct MediaTimes {
    let decoding: Interval
    let presentation: Interval
}

/// A writer for one container format.
protocol MediaFormatWriter: AnyObject {
    /// Writes a picture whose NAL units are preceded by four-byte lengths.
    func write(_ bytes: consuming [UInt8], _ times: MediaTimes, isKey: Bool) throws(MediaFileError)
    /// Writes the end of the file, and closes it.
    func finish() throws(MediaFileError)
}

/// An H.264 track.
public struct MediaTrack: Sendable {
    /// The SPS and PPS that apply at the beginning, without start codes.
    public var parameterSets: [[UInt8]]
    /// The visible size.
    public var size: PictureSize
    /// Whether later access units carry other parameter sets. The track is then marked as one with parameter sets in
    /// its samples (avc3, ISO/IEC 14496-15).
    public var changesParameterSets: Bool
    /// The longest time between the decoding of two consecutive packets, or between decoding and presentation of one. A
    /// long step makes times coarser in formats that store them with few bits.
    public var longestStep: Interval
    /// How long the last picture is shown. Every other picture is shown until the next one.
    public var lastDuration: Interval

    /// Creates a track from its properties.
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

/// An access unit and its times, from the beginning of the track.
public struct MediaPacket: Sendable {
    public var accessUnit: CodedFrame
    /// The decoding time. It must not be before that of the previous packet, and may be negative.
    public var decodingTime: Interval
    /// The presentation time. It must not be before `decodingTime`.
    public var presentationTime: Interval

    /// Creates a packet from an access unit and its times.
    public init(accessUnit: CodedFrame, decodingTime: Interval, presentationTime: Interval) {
        self.accessUnit = accessUnit
        self.decodingTime = decodingTime
        self.presentationTime = presentationTime
    }
}
