import H264
import MediaTypes
import RTP
import VideoDecoding

/// The pictures of one viewer, which are kept during the measurement and decoded after it, since a decoder would take
/// CPU time from the viewers.
///
/// Belongs to the viewers' thread.
struct PictureSample {
    /// The result of decoding.
    struct Outcome {
        /// The number of measured pictures.
        var pictures = 0
        /// The number of measured pictures that were decoded without error.
        var decoded = 0
        /// Why the first of the others wasn't decoded; nil if all were.
        var failure: String?

        var text: String {
            let end = failure.map { "the first failure: \($0)" } ?? "none damaged"
            return "\(decoded) of \(pictures) pictures of one viewer, \(end)"
        }
    }

    /// The time limit for a missing packet. The viewer gives it up sooner.
    private static let timeout = Interval.seconds(1)
    /// The maximum number of bytes that are kept. Pictures beyond it count as not decoded.
    private static let byteLimit = 64 << 20

    private var buffer = JitterBuffer(timeout: PictureSample.timeout)
    private var reassembler = FrameReassembler(.h264)
    /// The pictures from the last key frame before the measurement on, which the measured ones refer to; nil for each
    /// that is incomplete or exceeds the limit.
    private var pictures: [FrameContents?] = []
    private var byteCount = 0
    /// The index of the first measured picture; nil before the measurement.
    private var start: Int?
    private var isOver = false

    /// Begins the measurement.
    mutating func begin() { start = pictures.count }
    /// Ends the measurement, after which nothing is kept.
    mutating func end() { isOver = true }

    /// Begins another stream, which has sequence numbers of its own.
    mutating func beginStream() {
        buffer = JitterBuffer(timeout: Self.timeout)
        reassembler = FrameReassembler(.h264)
    }

    /// Receives a decrypted packet, or the one that a retransmission repeats.
    mutating func receive(_ packet: RTPPacket, now: MonotonicTime) {
        guard !isOver else { return }
        buffer.insert(packet, now: now)
        for packet in buffer.take(now: now) {
            for frame in reassembler.receive(packet.header, payload: packet.payload) { keep(frame.contents) }
        }
    }

    private mutating func keep(_ contents: FrameContents?) {
        if start == nil, contents?.isRandomAccess == true { (pictures, byteCount) = ([], 0) }
        for unit in contents?.units ?? [] { byteCount += unit.count }
        pictures.append(byteCount <= Self.byteLimit ? contents : nil)
    }

    /// Decodes the kept pictures, which takes milliseconds for each.
    func decode() throws(VideoDecodingError) -> Outcome {
        let decoder = try H264Decoder()
        let first = start ?? pictures.count
        var outcome = Outcome(pictures: pictures.count - first)
        // The first fault since the last key frame: later pictures refer to that one, up to the next key frame.
        var fault: String?
        for (index, contents) in pictures.enumerated() {
            if contents?.isRandomAccess == true { fault = nil }
            fault = fault ?? Self.fault(of: contents, in: decoder)
            guard index >= first else { continue }
            if fault == nil { outcome.decoded += 1 }
            outcome.failure = outcome.failure ?? fault
        }
        return outcome
    }

    /// Decodes a picture and returns its fault; nil if it has none.
    private static func fault(of contents: FrameContents?, in decoder: H264Decoder) -> String? {
        guard let contents else { return "a packet is missing, or there are more than \(byteLimit >> 20) MiB" }
        let before = decoder.pictureCount
        do {
            try decoder.decode(CodedFrame(annexB: Array(contents.units.joined())), copying: false)
        } catch {
            return "\(error)"
        }
        return decoder.pictureCount > before ? nil : "the decoder has output no picture"
    }
}
