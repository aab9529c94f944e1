import Glibc
import MediaFiles
import MediaTypes
import OutputLife
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

/// Pushes into files.
extension PushTests {
    @Test(
        "a file can be played while it is written, and nothing that was there before is lost",
        arguments: ["talk.mp4", "talk.mkv"])
    func files(_ name: String) throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        for (attempt, file) in [name, name.split(separator: ".").joined(separator: "-2.")].enumerated() {
            let push = try host.push(to: try PushAddress("file:" + folder.file(name)))
            track.write(pictures[0])
            try eventually("it is connected") { push.state == .connected }
            for picture in pictures.dropFirst() {
                track.write(picture)
                poll(nil, 0, 40)
            }
            var facts = stat()
            #expect(stat(folder.file(file), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
            if attempt == 1 { push.stop() }
            // Of the first one, which nobody has ended, the last second may be missing.
            let least = attempt == 1 ? pictures.count : pictures.count - 30
            try eventually("the pictures are there") {
                let decoded = try FFmpeg.decode(folder.file(file))
                return decoded.faults.isEmpty && decoded.bytes.count >= least * 176 * 144 * 3
            }
        }
    }

    @Test("a file of a push is never another one that a link leads to", arguments: ["talk.mp4", "talk.mkv"])
    func links(_ name: String) throws {
        defer { host.stop() }
        try #require(symlink(folder.file("other"), folder.file(name)) == 0)
        #expect(host.firstTrack.publish(track))
        let push = try host.push(to: try PushAddress("file:" + folder.file(name)))
        track.write(pictures[0])
        try eventually("it is connected") { push.state == .connected }
        #expect(access(folder.file("other"), F_OK) != 0)
        #expect(access(folder.file(name.split(separator: ".").joined(separator: "-2.")), F_OK) == 0)
        // What has come there in the meantime isn't written to either.
        let taken = try folder.write("taken.mp4", [7])
        let error = #expect(throws: MediaFileError.self) {
            try MediaFileWriter(
                address: "file:" + taken, container: .fragmentedMP4, track: nil,
                sound: AudioTrack(codec: .opus, channelCount: 2), connection: MediaConnection())
        }
        #expect(error == .rejected(reason: "File exists"))
        #expect(try fileBytes(taken) == [7])
    }

    @Test("HLS is a playlist that a player reads while it grows, and old segments go")
    func hls() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        let push = try host.push(to: try PushAddress("file:" + folder.file("room.m3u8")))
        track.write(pictures[0])
        try eventually("it is connected") { push.state == .connected }
        try eventually("a player reads it", within: .seconds(120)) {
            for picture in pictures {
                track.write(picture)
                poll(nil, 0, 10)
            }
            // The first segment is short, and FFmpeg would wait for the next one.
            guard access(folder.file("room.m3u8"), F_OK) == 0,
                String(decoding: try fileBytes(folder.file("room.m3u8")), as: UTF8.self).ranges(of: ".m4s").count > 1
            else { return false }
            let decoded = try FFmpeg.decode(folder.file("room.m3u8"), input: ["-live_start_index", "0", "-t", "1"])
            return decoded.bytes.count >= 10 * 176 * 144 * 3
        }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        let list = String(decoding: try fileBytes(folder.file("room.m3u8")), as: UTF8.self)
        #expect(list.contains("-init.mp4\"") && list.contains("#EXT-X-ENDLIST"))
    }
}
