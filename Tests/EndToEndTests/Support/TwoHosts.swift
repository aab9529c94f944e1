import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

/// Two shares of different sizes, started as `Documentation/operating.md` says, and haproxy in front of them as
/// `packaging/scale` configures it.
final class TwoHosts {
    private static let unpacked = packageRoot + "/.build/haproxy/usr"
    private static let program = unpacked + "/sbin/haproxy"

    /// Whether haproxy is there, which `Tools/setup` unpacks.
    static var isAvailable: Bool { access(program, X_OK) == 0 }

    /// The hosts `a` and `b` of the configuration: the first share, 320 pixels wide, and the second one, 640 pixels
    /// wide.
    let desk, stage: SharedDesktop
    /// Both of them.
    var shares: [SharedDesktop] { [desk, stage] }
    /// The port of each one's HTTP.
    let ports: [UInt16]
    /// Where each one advertises its media: `ADDRESS:PORT`.
    let media: [String]
    /// The port of haproxy.
    let port: UInt16
    /// Where haproxy listens: `127.0.0.1:PORT`.
    var place: String { "127.0.0.1:\(port)" }
    private let statistics: String
    private let process: ChildProcess

    /// Starts all of them, with haproxy's files in `folder`, and waits until haproxy listens. `rooms` are those of the
    /// shares, and `options` are more options for both.
    init(in folder: TemporaryFolder, rooms: [String] = ["desk", "stage"], options: [String] = []) throws {
        let port = try freePort()
        let place = "127.0.0.1:\(port)"
        let statistics = folder.file("statistics")
        // Every address of 127.0.0.0/8 is this machine's, and a host names none of these by itself.
        let addresses = ["127.0.0.11", "127.0.0.12"]
        let mediaPorts = try addresses.map { _ in try freePort() }
        let ports = try addresses.map { _ in try freePort() }
        func share(_ index: Int, _ size: PictureSize) throws -> SharedDesktop {
            let own = [
                "--room", rooms[index], "--lan", "--listen", "\(ports[index])", "--udp-port", "\(mediaPorts[index])",
                "--advertise", addresses[index], "--trusted-proxy", "127.0.0.1", "--allow-origin", "http://\(place)",
            ]
            return try SharedDesktop(options: own + options, size: size)
        }
        let desk = try share(0, PictureSize(width: 320, height: 240))
        let stage = try share(1, PictureSize(width: 640, height: 480))
        self.port = port
        self.desk = desk
        self.stage = stage
        self.ports = ports
        self.statistics = statistics
        media = zip(addresses, mediaPorts).map { "\($0):\($1)" }
        let packaged = packageRoot + "/packaging/scale/"
        var configuration = String(decoding: try fileBytes(packaged + "haproxy.cfg"), as: UTF8.self)
        for (former, new) in [
            ("127.0.0.1:1024", "127.0.0.1:\(try freePort())"),
            (":443 ssl crt /etc/haproxy/screen.example.org.pem", place), ("/etc/haproxy/", packaged),
            ("192.0.2.11:8080", "127.0.0.1:\(ports[0])"), ("192.0.2.12:8080", "127.0.0.1:\(ports[1])"),
        ] {
            try #require(configuration.contains(former), "\(former) in haproxy.cfg")
            configuration = configuration.replacing(former, with: new)
        }
        // The defaults are those of Debian.
        let beginning = """
            global
                stats socket \(statistics) mode 600
            defaults
                mode http
                timeout connect 5s
                timeout client 50s
                timeout server 50s

            """
        let file = try folder.write("haproxy.cfg", Array((beginning + configuration).utf8))
        var launch = Launch(Self.program, ["-db", "-f", file])
        launch.environment = ["LD_LIBRARY_PATH": Self.unpacked + "/lib/x86_64-linux-gnu"]
        launch.standardError = .text(limit: 1 << 20)
        process = try ChildProcess(launch)
        let _: TestSocket = try eventually("haproxy listens") {
            if let status = process.poll() {
                throw ProgramEnded(status: status, log: process.errorOutput?.text ?? "")
            }
            return try? TestSocket(port: port)
        }
    }

    deinit { process.stop(within: .zero) }

    /// Starts a host again that has ended, at the same addresses, and waits until haproxy's checks of it succeed.
    func restart(_ index: Int) throws {
        try shares[index].restartHost()
        let server = ["a", "b"][index]
        try eventually(
            "haproxy sees host \(server) again",
            holds: {
                // The field status.
                try fields(of: "screenrelay,\(server)").dropFirst(17).first == "UP"
            })
    }

    /// haproxy's CPU time so far, that of all its threads.
    var cpuTime: Interval {
        get throws {
            try Survival.threads(of: process.processID).reduce(Interval.zero) { sum, thread in
                try sum + ProcessFigures(thread).cpuTime
            }
        }
    }

    /// How many bytes haproxy has got from clients and sent to them so far.
    var passedBytes: Int {
        get throws {
            // The fields bin and bout.
            let counts = try fields(of: "screenrelay,FRONTEND").dropFirst(8).prefix(2).compactMap { Int($0) }
            try #require(counts.count == 2)
            return counts[0] + counts[1]
        }
    }

    /// haproxy's answer to a command on its socket (management guide, section 9.3).
    func answer(to command: String) throws -> String {
        let socket = try TestSocket(path: statistics)
        try socket.send("\(command)\n")
        return String(decoding: try socket.readToEnd("the answer to \(command)"), as: UTF8.self)
    }

    /// The fields of the line that begins with `name` in haproxy's statistics (management guide, section 9.1).
    private func fields(of name: String) throws -> [Substring] {
        let text = try answer(to: "show stat")
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name),") }
        return try #require(line, "\(text)").split(separator: ",", omittingEmptySubsequences: false)
    }
}
