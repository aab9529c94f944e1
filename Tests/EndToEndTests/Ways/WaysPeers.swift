import TestSupport
import Testing

/// The programs of others that a host pushes to or meets in a room, for one host after another: a WHIP endpoint, a
/// Janus server, and a SkyRTC and a socket.io server with a member each.
final class WaysPeers {
    /// What sends a host's first track to all of them.
    let pushes: [String]
    let joins: [String]

    private let folder: TemporaryFolder
    private let clients: [PythonClient]

    /// Starts them on this machine's address `loopback`.
    init(at loopback: String = "127.0.0.1") throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let host = loopback.contains(":") ? "[\(loopback)]" : loopback
        let (mesh, pair) = (try freePort(), try freePort())
        func client(_ name: String, _ way: WayOut?, _ arguments: [String], pair: Bool = false) throws -> PythonClient {
            var environment = ["LOOPBACK": loopback]
            if let way { environment["WITNESS"] = folder.file("\(way)") }
            return try PythonClient(name, in: pair ? .socketio5 : .rtc, arguments, environment: environment)
        }
        let whip = try client("whip_server", .whipPush, ["0", "Sesam"])
        let janus = try client("janus_server", .janus, ["0", "Sesam"])
        let servers = [
            try client("skyrtc_server", nil, ["--port", "\(mesh)"]),
            try client("pair_server", nil, ["--port", "\(pair)"], pair: true),
        ]
        let whipPort = try #require(try whip.event("listening")["port"] as? Int)
        let janusPort = try #require(try janus.event("listening")["port"] as? Int)
        for server in servers { try server.event("listening") }
        let members = [
            try client("skyrtc_client", .skyRTC, ["ws://\(host):\(mesh)/mesh", "ways", "--pictures-only"]),
            try client(
                "socketio_client", .socketIO,
                ["--url", "http://\(host):\(pair)", "--room", "ways", "--transport", "websocket"], pair: true),
        ]
        for member in members { try member.event("joined") }
        pushes = ["whip:http://Sesam@\(host):\(whipPort)/whip", "janus:ws://Sesam@\(host):\(janusPort)#1234,sesame"]
        joins = ["skyrtc:ws://\(host):\(mesh)/mesh#ways", "socketio:http://\(host):\(pair)#ways"]
        clients = [whip, janus] + servers + members
    }

    /// Where the peer at the end of `way` reports.
    func report(_ way: WayOut) -> String { folder.file("\(way)") }
}
