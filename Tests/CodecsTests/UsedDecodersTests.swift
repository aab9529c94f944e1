import LibAVMessages
import MediaFiles
import Processes
import TestSupport
import Testing

@Suite("Decoders that a source can choose", .enabled(if: FFmpeg.isAvailable))
struct UsedDecodersTests {
    @Test("finding out what a file has opens none but those that are used")
    func analysing() throws {
        let folder = try TemporaryFolder()
        for (codec, isUsed) in [("pcm_s16le", true), ("adpcm_yamaha", false)] {
            let file = folder.file(codec + ".wav")
            let made = try FFmpeg.run(["-f", "lavfi", "-i", "sine=duration=1", "-c:a", codec, file])
            try #require(made.status == .exited(0), "\(made.messages)")
            let reader = try MediaReader(address: "file:" + file, connection: MediaConnection())
            // libavformat has to open the decoder, because there is nothing else that tells what it needs.
            #expect(LibAVMessage.tells(of: "not on whitelist") == !isUsed, "\(LibAVMessage.first(code: 0))")
            withExtendedLifetime(reader) {}
        }
    }
}
