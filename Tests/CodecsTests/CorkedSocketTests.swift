import H264
import MediaTypes
import TestSupport
import Testing

@testable import MediaFiles

@Suite("frames by RTMP", .enabled(if: NginxServer.isAvailable), .serialized)
struct CorkedSocketTests {
    @Test(
        "the pieces of a frame leave in full segments, and sound in one, also beside another connection to the server")
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
        let writer = try connect(server.url)
        let other = try connect(server.url + "2")
        let socket = try #require(writer.socket)
        #expect(other.socket != nil)
        var time = Interval.milliseconds(40)
        func sent(_ write: () throws -> Void) throws -> UInt32 {
            let before = try #require(socket.sentSegments)
            try write()
            return try #require(socket.sentSegments) - before
        }
        // A frame of this many bytes has about fifteen chunks, and a byte between each two.
        let unit = [0x41] + [UInt8](repeating: 0x55, count: 60_000)
        let large = CodedFrame(
            bytes: [0, 0, 0, 1] + unit, units: [4..<4 + unit.count], isRandomAccess: false, captureTime: nil,
            format: nil)
        for _ in 0..<10 {
            time = time + .milliseconds(40)
            let count = try sent {
                try writer.write(MediaPacket(frame: large, decodingTime: time, presentationTime: time))
            }
            // The largest segment of the loopback interface has 65,483 bytes.
            #expect((1...2).contains(count), "\(count) segments")
            let sound = try sent { try writer.write(sound: [UInt8](repeating: 7, count: 300), at: time, for: .zero) }
            #expect(sound == 1)
        }
        try writer.finish()
        try other.finish()
    }
}
