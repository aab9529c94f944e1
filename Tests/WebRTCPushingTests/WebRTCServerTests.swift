import OutputSettings
import Testing

@testable import WebRTCPushing

@Suite("The addresses of WebRTC servers")
struct WebRTCServerTests {
    @Test(
        "a WHIP endpoint has a URL, and may have a token, which isn't shown",
        arguments: [
            ("whip:https://live.example/app/whip", "https://live.example/app/whip", nil),
            ("WHIP:http://live.example:8889/desk/whip?a=b", "http://live.example:8889/desk/whip?a=b", nil),
            ("whip:https://Sesam@live.example/whip", "https://live.example/whip", "Sesam"),
            ("whip:https://:Se%2Fsam%40@live.example/whip", "https://live.example/whip", "Se/sam@"),
            ("whip:http://Sesam@[::1]:8080/whip", "http://[::1]:8080/whip", "Sesam"),
        ] as [(String, String, String?)])
    func whip(text: String, url: String, token: String?) throws {
        let server = try WebRTCServer(text)
        #expect(server.service == .whip && server.url == url && server.token == token)
        #expect(server.description.hasSuffix("/...") && !server.description.contains("sam"))
    }

    @Test("a Janus room has a number or a name, and may have a PIN, which isn't shown")
    func janus() throws {
        let plain = try WebRTCServer("janus:ws://media.example:8188#1234")
        #expect(plain.url == "http://media.example:8188/" && plain.description == "janus:ws://media.example:8188#1234")
        #expect(plain.service == .janus(.init(name: .number(1234), pin: nil)))
        let secret = try WebRTCServer("janus:wss://Sesam@media.example/janus#the%20desk,12%2C4")
        #expect(secret.url == "https://media.example/janus" && secret.token == "Sesam")
        #expect(secret.service == .janus(.init(name: .text("the desk"), pin: "12,4")))
        #expect(secret.description == "janus:wss://media.example/...#the desk" && secret.host == "media.example")
        let large = try WebRTCServer("janus:wss://media.example#99999999999999999999,")
        #expect(large.service == .janus(.init(name: .text("99999999999999999999"), pin: nil)))
        #expect(try WebRTCServer("janus:wss://[::1]#a%0Ab").description == "janus:wss://[::1]#ab")
    }

    @Test(
        "an address that can't be used is refused in one line",
        arguments: [
            ("whip:", "can't be read"), ("whip:rtmp://live.example/x", "can't be read"),
            ("whip:wss://live.example/x", "can't be read"), ("janus:https://live.example#1", "can't be read"),
            ("whip:https:///x", "names no host"), ("whip:https://live.example:99999/x", "names no host"),
            ("whip:https://live.example", "no path"), ("whip:https://live.example/", "no path"),
            ("janus:wss://live.example", "names no room"), ("janus:wss://live.example#,Sesam", "names no room"),
            ("whip:https://a:Sesam@live.example/x", "a user and a password"),
            ("whip:https://Se%20sam@live.example/x", "other characters"), ("whip:https://live.example/a b", "a space"),
            ("whip:https://live.example/ü", "isn't ASCII's"),
            ("whip:https://live.example/" + String(repeating: "a", count: 4096), "more than 4096 bytes"),
        ])
    func mistakes(text: String, reason: String) {
        let error = #expect(throws: OutputSettingsError.self) { try WebRTCServer(text) }
        #expect(error?.description.contains(reason) == true && error?.description.contains("Sesam") == false)
    }

    @Test("only whip: and janus: are meant to be such servers")
    func meant() {
        #expect(WebRTCServer.isMeant(by: "whip:x") && WebRTCServer.isMeant(by: "Janus:x"))
        #expect(!WebRTCServer.isMeant(by: "rtmp://whip:janus") && !WebRTCServer.isMeant(by: ""))
    }
}
