import MediaFiles
import MediaTypes
import Processes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Pulling

@Suite("What a source can't have opened")
struct RedirectedSourceTests {
    @Test(
        "a file that names others is not read",
        arguments: [
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.ts\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile other.ts\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
        ])
    func playlists(text: String) throws {
        let folder = try TemporaryFolder()
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-c:v", "mpeg2video",
            folder.file("other.ts"),
        ])
        try #require(made.status == .exited(0), "\(made.messages)")
        for name in ["a.mp4", "a.m3u8", "a.ts"] {
            let path = try folder.write(name, Array(text.utf8))
            #expect(throws: MediaFileError.self) {
                try MediaReader(address: "file:" + path, connection: MediaConnection())
            }
        }
        _ = try MediaReader(address: "file:" + folder.file("other.ts"), connection: MediaConnection())
    }

    /// Reads from `url` on a thread of its own while `meanwhile` runs; returns why that failed.
    private func failure(reading url: String, meanwhile: () throws -> Void) throws -> MediaFileError? {
        let failure = Mutex<MediaFileError?>(nil)
        let thread = NamedThread("reader") {
            do throws(MediaFileError) {
                _ = try MediaReader(address: url, connection: MediaConnection())
            } catch {
                failure.withLock { $0 = error }
            }
        }
        try meanwhile()
        thread?.join(until: now() + .seconds(20))
        return failure.withLock { $0 }
    }

    @Test("a playlist sent over SRT doesn't get its addresses opened", .enabled(if: FFmpeg.isAvailable))
    func sentPlaylist() throws {
        let (folder, other) = (try TemporaryFolder(), try RawServer())
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:0", "#EXTINF:1,"]
        // As long as what libavformat looks at before it guesses.
        lines += ["http://127.0.0.1:\(other.port)/a.ts"] + [String](repeating: "# nothing", count: 400)
        let path = try folder.write("list", Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8))
        let place = "srt://127.0.0.1:\(try freePort())"
        let failure = try failure(reading: place + "?mode=listener") {
            // What has been received is lost if the sender leaves at once.
            let sending = "(cat '\(path)'; sleep 3) | ffmpeg -v error -f data -i - -map 0 -c copy -f data \(place)"
            let sent = try ChildProcess.run(Launch("sh", ["-c", sending]), within: .seconds(90))
            try #require(sent.status == .exited(0))
        }
        #expect(failure != nil && !other.hasNext)
    }

    @Test("an RTSP server's redirect to another host is not followed")
    func redirect() throws {
        let (server, other) = (try RawServer(), try RawServer())
        let failure = try failure(reading: "rtsp://localhost:\(server.port)/a") {
            try server.accept()
            try server.send(
                Array("RTSP/1.0 302 Moved\r\nCSeq: 1\r\nLocation: rtsp://127.0.0.1:\(other.port)/a\r\n\r\n".utf8))
        }
        let reason = "the server redirects to another host; if that is right, name that one"
        #expect(failure == .rejected(reason: reason))
        // It may have been connected to, and was left without a request.
        if other.hasNext { #expect(try other.acceptToEnd().isEmpty) }
    }

    @Test("a source that waits for a sender is known to wait for those of other machines")
    func listeners() throws {
        for url in ["srt://0.0.0.0:9000?mode=listener", "srt://[::]:9000?latency=1&mode=listener"] {
            #expect(try PullAddress(url).listensToOthers)
        }
        for url in [
            "srt://127.0.0.1:9000?mode=listener", "srt://[::1]:9000?mode=listener", "srt://media.example:9000",
            "rtsp://camera/?mode=listener",
        ] { #expect(try !PullAddress(url).listensToOthers) }
    }
}
