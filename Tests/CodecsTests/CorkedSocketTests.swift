import H264
import MediaTypes
import TestSupport
import Testing

@testable import MediaFiles

@Suite("frames by RTMP", .enabled(if: NginxServer.isAvailable), .serialized)
struct CorkedSocketTests {
    @Test("the pieces of a frame leave in full segments, and without the cork in several times as many")
    func segments() throws {
        let folder = try TemporaryFolder()
        let server = try NginxServer(port: try freePort(), in: folder)
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        let first = try #require(pictures.first)
        let headers = first.units.map { Array(first.bytes[$0]) }.filter { [7, 8].contains($0[0] & 31) }
        let format = FrameFacts.FileFormat(codec: .h264, size: PictureSize(width: 176, height: 144), samples: [])
        let aac = SoundTrack.Codec.aac(
            configuration: [0x11, 0x90], rate: 48_000, bitRate: BitRate(bitsPerSecond: 128_000))
        func connect(_ url: String) throws -> MediaFileWriter {
            try MediaFileWriter(
                address: url, container: .flash,
                track: MediaTrack(
                    format: format, headers: headers, changesHeaders: false, longestStep: .zero, lastDuration: .zero),
                sound: SoundTrack(codec: aac, channelCount: 2), connection: MediaConnection())
        }
        // Both are connected to the server at once, and each has its own socket.
        let (writer, plain) = (try connect(server.url), try connect(server.url + "2"))
        let (socket, plainSocket) = (try #require(writer.socket), try #require(plain.socket))
        plain.socket = nil
        // A frame of this many bytes has about fifteen chunks, and a byte between each two.
        let unit = [0x41] + [UInt8](repeating: 0x55, count: 60_000)
        let large = CodedFrame(
            bytes: [0, 0, 0, 1] + unit, units: [4..<4 + unit.count], isRandomAccess: false, captureTime: nil,
            format: nil)
        func segments(of writer: MediaFileWriter, _ socket: CorkedSocket) throws -> UInt32 {
            let before = try #require(socket.sentSegments)
            for index in 1...20 {
                let time = Interval.milliseconds(40) * Int64(index)
                try writer.write(MediaPacket(frame: large, decodingTime: time, presentationTime: time))
                try writer.write(sound: [UInt8](repeating: 7, count: 300), at: time, for: .zero)
            }
            return try #require(socket.sentSegments) - before
        }
        let (corked, uncorked) = (try segments(of: writer, socket), try segments(of: plain, plainSocket))
        // A picture is one segment of at most 65,483 bytes, or two where the server's buffer was full, and its sound one.
        #expect(corked <= 20 * 3 && uncorked > corked * 2, "\(corked) and \(uncorked) segments of 20 frames")
        try writer.finish()
        try plain.finish()
    }
}
