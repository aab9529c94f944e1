import ColorConversion
package import MediaFiles
import MediaTypes
package import ScreenRelayKit
package import VideoDecoding

/// Decodes a source whose codec tracks don't carry, or whose pictures lie on their side, and writes its pictures, which
/// the host encodes.
///
/// Without viewers, the packets since the last key frame are kept undecoded, so that the next viewer soon gets the
/// present picture. After a fault, decoding goes on with the next key frame. Belongs to one thread.
package struct DecodedSource {
    /// The most packets, and the most bytes, kept undecoded without viewers. With more since a key frame, they are
    /// decoded nevertheless.
    private static let maxPackets = 300
    private static let maxBytes = 8 << 20

    /// The size of the last picture; nil before the first, up to which everything is decoded.
    private(set) var size: PictureSize?
    /// How many pictures were decoded.
    var pictureCount: Int { decoder.pictureCount }

    private let decoder: StreamDecoder
    private let track: CustomVideoTrack
    private let quarterTurns: Int
    /// Called for the first fault; a bad connection would have very many.
    private var onFault: ((VideoDecodingError) -> Void)?
    private var waiting: [StreamPacket] = []
    private var waitingBytes = 0
    private var gate = RandomAccessGate(isClosed: true)
    /// Whether packets are missing before those that wait.
    private var hasGap = false

    /// - Throws: ``MediaFileError`` if there is no decoder.
    package init(
        _ stream: StreamDescription, into track: CustomVideoTrack,
        onFault: @escaping (VideoDecodingError) -> Void = { _ in }
    ) throws(MediaFileError) {
        do throws(VideoDecodingError) {
            decoder = try StreamDecoder(stream)
        } catch {
            throw .rejected(reason: "\(error)")
        }
        self.track = track
        quarterTurns = stream.quarterTurns
        self.onFault = onFault
    }

    /// Accepts the next packet, and decodes it if there are viewers.
    ///
    /// - Throws: ``MediaFileError`` if the pictures can't be used at all.
    package mutating func take(_ packet: StreamPacket, isWatched: Bool) throws(MediaFileError) {
        // The waiting packets are no longer needed.
        if packet.isKeyFrame, !waiting.isEmpty { skipToKeyFrame() }
        guard gate.passes(isRandomAccess: packet.isKeyFrame) else { return }
        waiting.append(packet)
        waitingBytes += packet.bytes.count
        if isWatched || size == nil { return try decodeWhatWaits() }
        // The next viewer must not mistake the last shown picture for the present one.
        track.forgetPicture()
        guard waiting.count > Self.maxPackets || waitingBytes > Self.maxBytes else { return }
        // The next key frame may be far off, or never arrive. Where each picture is a key frame, nothing is lost.
        if waiting.count > 1 { try decodeWhatWaits() } else { skipToKeyFrame() }
    }

    /// Leaves out all packets up to the next key frame.
    mutating func skipToKeyFrame() {
        (waiting, waitingBytes, hasGap) = ([], 0, true)
        gate.close()
    }

    /// Writes the pictures that the decoder still holds back, at the end of the source.
    mutating func finish() throws(MediaFileError) {
        try decodeWhatWaits()
        // If the last picture is damaged, the one before it stays.
        for picture in (try? decoder.flush()) ?? [] { try write(picture) }
    }

    private mutating func decodeWhatWaits() throws(MediaFileError) {
        let packets = waiting
        (waiting, waitingBytes) = ([], 0)
        if hasGap { decoder.reset() }
        hasGap = false
        var newest: I420Picture?
        for packet in packets {
            let pictures: [I420Picture]
            do throws(VideoDecodingError) {
                pictures = try decoder.decode(packet)
            } catch {
                guard error.wantsKeyFrame else { throw .rejected(reason: "\(error)") }
                onFault?(error)
                onFault = nil
                skipToKeyFrame()
                break
            }
            // Of the waiting pictures, only the last is shown: the others are late, and too many at once for a path.
            if packets.count == 1 {
                for picture in pictures { try write(picture) }
            } else {
                newest = pictures.last ?? newest
            }
        }
        if let newest { try write(newest) }
    }

    private mutating func write(_ picture: I420Picture) throws(MediaFileError) {
        guard let upright = PictureRotation.turn(picture, quarters: quarterTurns) else {
            throw .rejected(reason: "pictures of \(picture.size) can't be turned")
        }
        size = upright.size
        if let refusal = track.write(picture: upright) {
            throw .rejected(reason: "pictures of \(picture.size) can't be encoded: \(refusal)")
        }
    }
}
