import CLibAV
import H264
import LibAVMessages
public import MediaTypes

/// Decodes H.264 with libavcodec on one thread, and outputs every picture as soon as the stream allows.
///
/// Not thread-safe: its owner calls it from one thread at a time. A new SPS, such as for another size, needs no new
/// decoder.
public final class H264Decoder: FrameDecoder {
    /// The longest access unit that is accepted, in bytes.
    public static let maxAccessUnit = 32 << 20
    /// The most pixels that a picture may have: slightly more than 8192x4320.
    public static let maxPixels: Int64 = 36 << 20
    /// The limit in bytes for the pictures that the stream's SPS tells a decoder to keep.
    ///
    /// A stream of 8192x4320 in 4:2:0 with the five reference frames that level 6 allows takes 304 MiB; one of
    /// 3840x2160 in 4:4:4 with those of level 5.1 takes 143 MiB. A stream of 170 kB may ask for 3.7 GB.
    public static let pictureBufferLimit = 320 << 20
    /// The limit in bytes for the pictures actually in memory. These include pictures that wait for output or have been
    /// output; a decoder learns only while decoding how many wait.
    public static let pictureMemoryLimit = 512 << 20

    private let decoder: StreamDecoder

    /// The number of pictures that were output undamaged.
    public var pictureCount: Int { decoder.pictureCount }

    /// Creates a decoder that waits for its first IDR access unit. Throws `decoderUnavailable` or `outOfMemory`.
    public convenience init() throws(VideoDecodingError) {
        try self.init(pictureMemoryLimit: Self.pictureMemoryLimit)
    }

    /// Creates a decoder with a limit other than the default ``pictureMemoryLimit``.
    init(pictureMemoryLimit: Int) throws(VideoDecodingError) {
        decoder = try StreamDecoder(AV_CODEC_ID_H264, isStrict: true, pictureMemoryLimit: pictureMemoryLimit)
    }

    /// Decodes one access unit and returns the pictures that are output: usually one, or more or none if the stream
    /// reorders pictures.
    ///
    /// With `copying: false`, nothing is copied or returned: the call only checks that the access unit decodes, and
    /// `lastPicture` has the result.
    ///
    /// - Throws: `damaged` if anything is missing or invalid; a damaged picture is neither returned nor kept as the
    ///   last picture. `tooLarge` or `unsupportedFormat` if the SPS asks for too much, before libavcodec gets any of
    ///   the access unit.
    @discardableResult
    public func decode(_ unit: CodedFrame, copying: Bool = true) throws(VideoDecodingError) -> [I420Picture] {
        try StreamDecoder.check(byteCount: unit.bytes.count)
        try checkParameterSets(of: unit)
        return try decoder.decode(
            unit.bytes, time: unit.captureTime, isKeyFrame: unit.isRandomAccess, copying: copying)
    }

    /// Rejects an SPS that asks for more memory than the limit, or for an unsupported sample format.
    ///
    /// Everything that libavcodec allocates depends on the SPS that it has parsed, whichever of them a PPS then refers
    /// to. NAL units are searched the way libavcodec does, regardless of `unit.units`. An SPS that can't be parsed
    /// here might still be valid for libavcodec, so it is rejected too.
    private func checkParameterSets(of unit: CodedFrame) throws(VideoDecodingError) {
        for range in AnnexB.nalUnits(in: unit.bytes) where unit.bytes[range.lowerBound] & 0x1F == 7 {
            let sequence: SequenceParameterSet
            do {
                sequence = try SequenceParameterSet(nalUnit: unit.bytes[range])
            } catch {
                throw .damaged(reason: "its SPS can't be read: \(error)")
            }
            let depth = max(sequence.lumaBitDepth, sequence.chromaBitDepth)
            guard depth == 8 else { throw .unsupportedFormat(format: "\(depth) bits a sample", size: sequence.size) }
            let bytes = sequence.pictureBufferByteCount
            guard bytes <= Self.pictureBufferLimit else {
                throw .tooLarge(size: sequence.codedSize, pictures: sequence.bufferedPictures, bytes: bytes)
            }
        }
    }

    /// Returns the pictures that reordering still holds back at the end of the stream.
    ///
    /// The next access unit begins a new stream and must be an IDR access unit.
    ///
    /// - Throws: ``VideoDecodingError`` if one of them is damaged; none is returned then.
    public func flush() throws(VideoDecodingError) -> [I420Picture] { try decoder.flush() }

    /// Drops all reference pictures, as before a new stream. The last picture stays.
    public func reset() { decoder.reset() }

    /// A copy of the last undamaged picture; nil before the first. Throws ``VideoDecodingError`` if it can't be copied.
    public func lastPicture() throws(VideoDecodingError) -> I420Picture? { try decoder.lastPicture() }

    /// The size of the last undamaged picture; nil before the first.
    public var lastPictureSize: PictureSize? { decoder.lastPictureSize }
}
