package import AudioCoding
import AudioConversion
package import MediaFiles
package import MediaTypes
import Opus
package import ScreenRelayKit

/// Passes the sound of a source on to a track: Opus as it is, and another codec as samples, which the host encodes.
///
/// While nobody listens, or the sharer has paused or muted, nothing is decoded. Belongs to one thread.
package struct SourceAudio {
    /// The track of it.
    package let track: CustomAudioTrack
    /// What the source sends, for people.
    package let text: String

    /// Nil for Opus.
    private let decoder: AudioDecoder?
    private var isDecoding = false
    /// Told of the first fault; a bad connection would have very many.
    private var onFault: ((AudioCodingError) -> Void)?

    /// - Throws: ``MediaFileError`` if there is no decoder, or if the stream exceeds one's limits.
    package init(
        _ stream: AudioDescription, feedback: CustomAudioTrack.Feedback,
        onFault: @escaping (AudioCodingError) -> Void
    ) throws(MediaFileError) {
        self.onFault = onFault
        if stream.isPlainOpus {
            track = CustomAudioTrack(feedback: feedback)
            decoder = nil
            text = "Opus"
            return
        }
        let made: AudioDecoder
        do throws(AudioCodingError) {
            made = try AudioDecoder(stream)
        } catch {
            throw .rejected(reason: "\(error)")
        }
        do throws(HostError) {
            track = try CustomAudioTrack(channelCount: made.channelCount, feedback: feedback)
        } catch {
            throw .rejected(reason: "\(error)")
        }
        decoder = made
        text = "\(stream.codec), which is converted to Opus"
    }

    /// Takes the next packet, and decodes it if it is heard.
    package mutating func take(_ packet: AudioPacket) {
        guard let decoder else {
            // What isn't Opus is left out.
            if let frame = CodedFrame(opus: packet.bytes, captureTime: packet.captureTime) { track.write(frame) }
            return
        }
        // The decoder must know of other headers even if nobody listens.
        guard track.isHeard || !packet.headers.isEmpty else { return skip() }
        isDecoding = true
        do throws(AudioCodingError) {
            for piece in try decoder.decode(packet) {
                track.write(samples: piece.samples, captured: piece.captureTime)
            }
        } catch {
            onFault?(error)
            onFault = nil
        }
    }

    /// Starts again with the next packet, which doesn't follow the last one.
    mutating func skip() {
        if isDecoding { decoder?.reset() }
        isDecoding = false
    }
}
