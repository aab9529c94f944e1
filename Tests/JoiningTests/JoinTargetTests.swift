import Signalling
import SocketIORooms
import Testing

@testable import Joining

@Suite("Where a join goes")
struct JoinTargetTests {
    @Test(
        "people see the server, and neither the path nor the room",
        arguments: [
            ("skyrtc:wss://rooms.example/ws?key=Sesam#Sesam", "skyrtc:wss://rooms.example"),
            ("SkyRTC:WS://127.0.0.1:3000#Sesam", "skyrtc:ws://127.0.0.1:3000"),
            ("socketio:https://[2001:db8::7]:8443#Sesam", "socketio:https://[2001:db8::7]:8443"),
        ])
    func description(_ text: String, _ shown: String) throws {
        #expect("\(try JoinTarget(text))" == shown)
    }

    @Test("the room is decoded, and the address has the scheme's port and the path")
    func address() throws {
        let mesh = try JoinTarget("skyrtc:wss://rooms.example/ws?a=b#desk%20one,To#ken")
        #expect(mesh.room == "desk one,To#ken")
        let address = mesh.address(.four)
        #expect(address.host == "rooms.example" && address.port == 443 && address.isSecure)
        #expect(address.target == "/ws?a=b")
        #expect(try JoinTarget("skyrtc:ws://[::1]?a#r").address(.four).target == "/?a")
        let pair = try JoinTarget("socketio:http://rooms.example#r").address(.three)
        #expect(pair.port == 80 && !pair.isSecure)
        #expect(pair.target == "/socket.io/?EIO=3&transport=websocket")
        let other = try JoinTarget("socketio:http://rooms.example:99/calls?a=b#r").address(.four)
        #expect(other.port == 99 && other.target == "/calls/?a=b&EIO=4&transport=websocket")
    }

    @Test("whether other machines are needed shows in the host")
    func machine() throws {
        #expect(try JoinTarget("skyrtc:ws://localhost:3000#r").isOnThisMachine)
        #expect(try JoinTarget("skyrtc:ws://[::1]:3000#r").isOnThisMachine)
        #expect(try !JoinTarget("skyrtc:ws://192.0.2.1:3000#r").isOnThisMachine)
    }

    @Test(
        "a URL that can't be used is refused in one line without the room",
        arguments: [
            ("", "write it like"), ("wss://rooms.example/#Sesam", "write it like"),
            ("skyrtc:rooms.example#Sesam", "write it like"), ("http:https://h#Sesam", "write it like"),
            ("skyrtc:https://h#Sesam", "wss:// or ws://"), ("socketio:wss://h#Sesam", "https:// or http://"),
            ("skyrtc:wss://h/Sesam", "no room"), ("skyrtc:wss://h#", "no room"), ("skyrtc:wss://#Sesam", "no host"),
            ("skyrtc:wss://:80#Sesam", "no host"), ("skyrtc:wss://[::1#Sesam", "no host"),
            ("skyrtc:wss://h:#Sesam", "no port"), ("skyrtc:wss://h:0#Sesam", "port isn't"),
            ("skyrtc:wss://h\u{E9}#Sesam", "like xn--"), ("skyrtc:wss://h:65536#Sesam", "port isn't"),
            ("skyrtc:wss://me:Sesam@h#r", "a user"),
            ("skyrtc:wss://h/Sesam\u{E9}#r", "percent-encoded"), ("skyrtc:wss://h#Sesam r", "a space"),
            ("skyrtc:wss://h#Sesam\r\nX: y", "a control character"),
            ("skyrtc:wss://h#" + String(repeating: "Sesam", count: 1000), "more than 4096 bytes"),
        ])
    func refused(_ text: String, _ reason: String) {
        let error = #expect(throws: JoinError.self) { try JoinTarget(text) }
        let line = error.map { "\($0)" } ?? ""
        #expect(line.contains(reason) && !line.contains("Sesam") && !line.contains("\n"), "\(line)")
    }
}
