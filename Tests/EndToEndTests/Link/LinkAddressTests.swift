import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Which address a link names", .enabled(if: EndToEnd.isPossible))
    struct LinkAddresses {
        @Test("on loopback it is said that other machines are not let in, and by what they are")
        func loopback() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            #expect(try host.printedLink().hasPrefix("http://127.0.0.1:"))
            let line = try #require(host.output.split(separator: "\n").first)
            #expect(line.hasSuffix(", for this machine only (--lan lets others in). Ctrl-C ends it."), "\(line)")
        }

        @Test("from outside it is that of the host name that --advertise gives")
        func advertised() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--advertise", "localhost"])
            let link = try host.printedLink()
            try eventually("the link from outside in \(host.output)") {
                host.output.contains("From outside: http://127.0.0.1:") && link.hasPrefix("http://127.0.0.1:")
            }
        }

        @Test(
            "with --lan it is the one that packets to other networks leave from; where there is no network, that is said",
            .enabled(if: LossyNetwork.obstacle == nil))
        func network() throws {
            let folder = try TemporaryFolder()
            let network = try LossyNetwork(losingFrom: 9)
            // The first interface has the address 192.0.2.1.
            try network.run("ip link add wan type veth peer name beyond && ip address add 198.51.100.7/24 dev wan")
            try network.run("ip link set wan up && ip link set beyond up")
            try network.run("ip route replace default via 198.51.100.1")
            func start(_ socket: String) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay",
                    ["host", "--link", "unix:" + folder.file(socket), "--lan", "--listen", "0", "--udp-port", "0"],
                    prefix: network.prefix)
            }
            var host = try start("s.sock")
            #expect(try host.printedLink().hasPrefix("http://198.51.100.7:"))
            try eventually("the other address in \(host.output)") {
                host.output.contains("This machine's other addresses, if that one doesn't work: 192.0.2.1\n") ? () : nil
            }
            #expect(!host.output.contains("for this machine only"))
            #expect(host.output.contains("HTTP, which isn't encrypted"))
            host.stop()
            try network.run("ip link set wan down && ip link set near down")
            host = try start("t.sock")
            #expect(try host.printedLink().hasPrefix("http://localhost:"))
            try eventually("the news in \(host.output)") {
                host.output.contains("This machine is on no network: no other machine can open the invite link.")
                    ? () : nil
            }
        }
    }
}

extension LossyNetwork {
    /// Runs a line of shell in this network.
    fileprivate func run(_ line: String) throws {
        var launch = Launch(prefix[0], Array(prefix.dropFirst()) + ["sh", "-c", line])
        launch.standardError = .text(limit: 10_000)
        let run = try ChildProcess.run(launch, within: .seconds(10))
        #expect(run.status == .exited(0), "\(line): \(run.errorOutput)")
    }
}
