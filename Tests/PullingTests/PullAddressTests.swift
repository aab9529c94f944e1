import Pulling
import Testing

@Suite("The URL of a source")
struct PullAddressTests {
    @Test(
        "is shown without what may be secret",
        arguments: [
            ("rtsp://user:secret@camera:554/stream?key=a", "rtsp://camera:554/..."),
            ("RTMP://h/app/key", "rtmp://h/..."),
            ("srt://h:9000?passphrase=a", "srt://h:9000/..."), ("file:/srv/a b.mp4", "file:/srv/a b.mp4"),
            ("rtsp://[::1]:80", "rtsp://[::1]:80"),
        ])
    func shown(url: String, words: String) throws {
        #expect(try PullAddress(url).description == words)
    }

    @Test(
        "is refused in one line without it, if it is bad",
        arguments: [
            "rtsp:/secret", "secret", "ftp://h/secret", "rtsp://", "rtsp://:80/secret", "rtsp://a:b/c@h/secret",
            "file:", "rtmps://user:secret@h/app/key",
        ])
    func bad(url: String) {
        do {
            let address = try PullAddress(url)
            Issue.record("\(address)")
        } catch {
            #expect(!error.description.contains("secret") && !error.description.contains("\n"))
        }
    }
}
