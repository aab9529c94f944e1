import OutputSettings
import Pushing
import Testing

struct PushAddressTests {
    @Test(
        "people see where a push goes, and not its key",
        arguments: [
            ("rtmp://live.example/app/key", "rtmp://live.example/app/..."),
            ("RTMPS://live.example:443/app/key/more?sign=1", "rtmps://live.example:443/app/..."),
            ("rtmp://user:secret@[::1]:1935/app?token=1", "rtmp://[::1]:1935/..."),
            ("file:talk.mp4", "file:talk.mp4"), ("file:///srv/ab/talk.m3u8", "file:/srv/ab/talk.m3u8"),
            ("srt://live.example:9000?passphrase=secret", "srt://live.example:9000"),
            ("rtsp://user:secret@live.example/room", "rtsp://live.example/..."),
        ])
    func description(_ url: String, _ shown: String) throws {
        #expect("\(try PushAddress(url))" == shown)
    }

    @Test(
        "an address that can't be used is refused in one line",
        arguments: [
            ("", "isn't a URL"), ("live.example/app/key", "isn't a URL"), ("rtmp:live.example", "isn't a URL"),
            (
                "http://live.example/app/key",
                "over http; it can be one of rtmp, rtmps, srt, rtsp, whip, janus, file, object"
            ), ("rtmp:///app/key", "names no host"),
            ("rtmp://:1935/app/key", "names no host"), ("rtmp://live.example", "no path"),
            ("rtmp://live.example/", "no path"), ("rtsp://live.example?key=1", "no path"),
            ("srt://live.example?passphrase=key", "no port"), ("srt://[::1]", "no port"),
            ("rtmp://user:pa/ss@host/app", "an @ after the host"), ("file:a b.mp4", "a space"),
            ("file:talk.avi", "no name that ends in"), ("file:", "no name"), ("file:/srv/.mp4", "no name"),
            ("rtmps://me:kkk@live.example/app/key", "without a check of the certificate"),
            ("rtmp://live.example/app/a key", "a space"),
            ("rtmp://live.example/app/key\n", "a control character"),
            ("rtmp://live.example/app/" + String(repeating: "k", count: 5000), "more than 4096 bytes"),
        ])
    func refused(_ url: String, _ reason: String) {
        let error = #expect(throws: OutputSettingsError.self) { try PushAddress(url) }
        let line = error.map { "\($0)" } ?? ""
        #expect(line.contains(reason) && !line.contains("kkk") && !line.contains("\n"), "\(line)")
    }
}
