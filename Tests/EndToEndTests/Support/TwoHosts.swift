import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// Two shares, each with its own room and size, and haproxy in front of them as `packaging/scale` configures it.
final class TwoHosts {
    private static let unpacked = packageRoot + "/.build/haproxy/usr"
    private static let program = unpacked + "/sbin/haproxy"

    /// Whether haproxy is there, which `Tools/setup` unpacks.
    static var isAvailable: Bool { access(program, X_OK) == 0 }

    /// The share of the room `desk`, 320 pixels wide, and that of `stage`, 640 pixels wide.
    let desk, stage: SharedDesktop
    /// Where haproxy listens: `127.0.0.1:PORT`.
    let place: String
    private let process: ChildProcess

    /// Starts all of them, with haproxy's files in `folder`, and waits until haproxy listens.
    init(in folder: TemporaryFolder) throws {
        let port = try freePort()
        let place = "127.0.0.1:\(port)"
        func share(_ room: String, _ size: PictureSize) throws -> SharedDesktop {
            let options = ["--trusted-proxy", "127.0.0.1", "--allow-origin", "http://\(place)"]
            return try SharedDesktop(options: ["--room", room] + options, size: size)
        }
        let desk = try share("desk", PictureSize(width: 320, height: 240))
        let stage = try share("stage", PictureSize(width: 640, height: 480))
        (self.place, self.desk, self.stage) = (place, desk, stage)
        let ports = try [desk, stage].map { try #require(RoomLink($0.link)).port }
        let packaged = packageRoot + "/packaging/scale/"
        var configuration = String(decoding: try fileBytes(packaged + "haproxy.cfg"), as: UTF8.self)
        for (former, new) in [
            (":443 ssl crt /etc/haproxy/screen.example.org.pem", place), ("/etc/haproxy/", packaged),
            ("192.0.2.11:8080", "127.0.0.1:\(ports[0])"), ("192.0.2.12:8080", "127.0.0.1:\(ports[1])"),
        ] {
            try #require(configuration.contains(former), "\(former) in haproxy.cfg")
            configuration = configuration.replacing(former, with: new)
        }
        // Those of Debian.
        let defaults = """
            defaults
                mode http
                timeout connect 5s
                timeout client 50s
                timeout server 50s

            """
        let file = try folder.write("haproxy.cfg", Array((defaults + configuration).utf8))
        var launch = Launch(Self.program, ["-db", "-f", file])
        launch.environment = ["LD_LIBRARY_PATH": Self.unpacked + "/lib/x86_64-linux-gnu"]
        launch.standardError = .text(limit: 1 << 20)
        process = try ChildProcess(launch)
        let _: RawSocket = try eventually("haproxy listens") {
            if let status = process.poll() {
                throw ProgramEnded(status: status, log: process.errorOutput?.text ?? "")
            }
            return try? RawSocket.connected(to: port, .tcp)
        }
    }

    deinit { process.stop(within: .zero) }
}
