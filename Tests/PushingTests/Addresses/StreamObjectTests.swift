import OutputSettings
import TestSupport
import Testing

@testable import Pushing

/// A stream as a service describes it.
private func service(_ security: String, _ name: String = #""title": "desk""#) -> String {
    #"{"hosts": {"publish": {"rtmp": "live.example:1936"}}, "hub": "live", \#(name), "publishKey": "k3y+/=", "#
        + #""publishSecurity": "\#(security)", "disabled": false}"#
}

struct StreamObjectTests {
    /// The tokens are those of `openssl dgst -sha1 -hmac`.
    @Test(
        "an object has a URL, or what the URL is made and signed of",
        arguments: [
            (#"{"url": "srt://live.example:9000?passphrase=a"}"#, "srt://live.example:9000?passphrase=a"),
            (service("static"), "rtmp://live.example:1936/live/desk?key=k3y%2B%2F%3D"),
            (
                service("dynamic"),
                "rtmp://live.example:1936/live/desk?nonce=1700000000005&token=4_eT-4dsC3f0Ye8uAg7TXVv9QcQ="
            ),
            (
                service("dynamic", #""id": "z1.live.desk""#),
                "rtmp://live.example:1936/live/desk?nonce=1700000000005&token=4_eT-4dsC3f0Ye8uAg7TXVv9QcQ="
            ),
        ])
    func urls(_ text: String, _ url: String) throws {
        #expect(try StreamObject.address(in: Array(text.utf8), nonce: 1_700_000_000_005) == PushAddress(url))
    }

    @Test(
        "an object that names no server is refused in one line without its key",
        arguments: [
            ("", "isn't JSON"), ("[]", "isn't JSON"), (#"{"url": 5}"#, "isn't JSON"), ("{}", "has no url"),
            (#"{"url": "k3y"}"#, "nothing can be pushed to"), (#"{"url": "rtmp://k3y"}"#, "nothing can be pushed to"),
            (#"{"url": "file:k3y.mp4"}"#, "names a file"),
            (#"{"url": "srt://127.0.0.1:9000?passphrase=k3y&mode=listener"}"#, "to wait for a receiver"),
            (#"{"url": "rtmp://h\u009B/a/k3y"}"#, "other characters than ASCII's"),
            (service("none"), "neither static nor dynamic"), (service("static", #""a": 1"#), "has no url"),
            (service("static", #""title": "a/b""#), "can't be a part of a URL"),
            (String(repeating: "[", count: 60_000), "isn't JSON"),
        ])
    func refused(_ text: String, _ reason: String) {
        let error = #expect(throws: OutputSettingsError.self) {
            try StreamObject.address(in: Array(text.utf8), nonce: 1)
        }
        let line = error.map { "\($0)" } ?? ""
        #expect(line.contains(reason) && !line.contains("k3y") && !line.contains("\n"), "\(line)")
    }

    @Test("a nonce is larger than the one before, however soon it comes")
    func nonces() {
        let nonces = (0..<1000).map { _ in StreamObject.nextNonce() }
        #expect(zip(nonces, nonces.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
        "people see where an object comes from, and not what may be secret",
        arguments: [
            ("object:live.json", "object:live.json"), ("OBJECT:/srv/live.json", "object:/srv/live.json"),
            ("object:https://user:k3y@live.example:8443/a?sign=k3y", "object:https://live.example:8443/..."),
            ("object:http://[::1]", "object:http://[::1]"),
            ("rtmp://live.example/app/k3y", "rtmp://live.example/app/..."),
        ])
    func description(_ text: String, _ shown: String) throws {
        #expect("\(try PushTarget(text))" == shown)
    }

    @Test(
        "a place where no object can be is refused in one line",
        arguments: [
            "object:", "object:ftp://h/k3y", "object:https:///k3y", "object:http:k3y", "object:a k3y",
            "object:https://u:k3/y@h",
        ])
    func badPlace(_ text: String) {
        let error = #expect(throws: OutputSettingsError.self) { try PushTarget(text) }
        #expect(error.map { !"\($0)".contains("k3y") && !"\($0)".contains("\n") } == true)
    }
}
