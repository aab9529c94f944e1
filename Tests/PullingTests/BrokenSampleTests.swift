import MediaFiles
import Processes
import TestSupport
import Testing

@Suite("A damaged sample of a file", .enabled(if: FFmpeg.isAvailable))
struct BrokenSampleTests {
    @Test("is left out, and what follows is read")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.mp4")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10", "-frames:v", "20", "-c:v", "libx264", "-bf", "0",
            "-pix_fmt", "yuv420p", path,
        ])
        #expect(made.status == .exited(0), "\(made.messages)")
        var bytes = try fileBytes(path)
        #expect(try count(at: path) == 20)

        // The length in front of the tenth slice that isn't an IDR one says that it is longer than all of the file.
        let media = try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == Array("mdat".utf8) })
        var position = media + 4
        var slices = 0
        while slices < 10 {
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[position + 4] & 0x1F == 1 { slices += 1 }
            if slices < 10 { position += 4 + length }
        }
        bytes[position] = 0x7F
        #expect(try count(at: try folder.write("b.mp4", bytes)) == 19)
    }

    private func count(at path: String) throws -> Int {
        let reader = try MediaReader(address: "file:" + path, connection: MediaConnection())
        var pictures = 0
        while let piece = try reader.next() {
            if case .frame = piece.content { pictures += 1 }
        }
        return pictures
    }
}
