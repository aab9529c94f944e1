import BrowserDriver
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The addresses that a host prints", .enabled(if: EndToEnd.isPossible))
    struct HostPortTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func host(_ name: String, _ options: [String]) throws -> RunningProgram {
            try RunningProgram(
                "screenrelay", ["host", "--link", "unix:" + folder.file(name), "--listen", "0"] + options,
                prefix: ["env", "XDG_RUNTIME_DIR=\(folder.path)"])
        }

        @Test("a second one needs only another --listen: it takes any free UDP port")
        func second() throws {
            let both = try [host("a.sock", ["--lan"]), host("b.sock", ["--lan"])]
            for host in both { _ = try host.printedLink() }
            // Another program may have had the usual port before both.
            let news = both.map(\.output).filter { $0.contains("\nThe usual UDP port is in use: viewers use port ") }
            #expect(!news.isEmpty)
            for host in both { #expect(host.stop() == .exited(0)) }
        }

        @Test("players of RTSP are told the address of the link")
        func rtsp() throws {
            let host = try host("c.sock", ["--udp-port", "0", "--lan", "--rtsp", "0"])
            let machine = try #require(try host.printedLink().split(separator: "/").dropFirst().first)
                .split(separator: ":").dropLast().joined(separator: ":")
            let begin = "Players of RTSP: rtsp://"
            let line = try #require(host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            // Without a network there is no address for others.
            if machine != "localhost" { #expect(line.contains("@\(machine):"), "\(host.output)") }
            #expect(host.stop() == .exited(0))
        }
    }
}
