import Glibc
import Processes
import TestSupport

/// A network of its own, which loses some of what is sent in it, or what other rules of a firewall say.
///
/// It lives as long as a process inside it, which this object holds.
final class LossyNetwork {
    /// The command that runs another one inside: `nsenter` and its options.
    let prefix: [String]
    private let holder: ChildProcess

    /// Why there can't be such a network on this machine; nil if there can.
    static let obstacle: String? = {
        for tool in ["unshare", "nsenter", "ip", "nft"] where ProgramLookup.path(of: tool) == nil {
            return "\(tool) is not installed"
        }
        do {
            _ = try LossyNetwork(losingFrom: 9)
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// The media port of a host that is published to.
    static let mediaPort: UInt16 = 8189

    /// Creates the network, which loses one in `count` of the datagrams that arrive at UDP `port`, and of those that it
    /// sends.
    convenience init(losingOneIn count: Int, at port: UInt16 = LossyNetwork.mediaPort) throws {
        try self.init(
            // The sender isn't told, as it would be on its way out.
            rules: ["add chain inet loss out '{ type filter hook input priority 0; }'"]
                + ["dport", "sport"].map {
                    "add rule inet loss out udp \($0) \(port) numgen inc mod \(count) 0 counter drop"
                })
    }

    /// Creates the network, which loses one in twenty of the datagrams that UDP `port` sends.
    convenience init(losingFrom port: UInt16) throws {
        try self.init(losing: "udp sport \(port) numgen inc mod 20 0")
    }

    /// Creates the network, which loses all packets that this expression of nftables is true of.
    convenience init(losing expression: String) throws {
        try self.init(rules: [
            "add chain inet loss out '{ type filter hook output priority 0; }'",
            "add rule inet loss out \(expression) counter drop",
        ])
    }

    /// Creates the network with these commands of nft, whose table is `inet loss`.
    init(rules: [String]) throws {
        // A browser doesn't use a network that has only loopback, so add an interface, which leads nowhere.
        let script = """
            set -e
            ip link set lo up
            ip link add near type veth peer name far
            ip address add 192.0.2.1/24 dev near
            ip link set near up
            ip link set far up
            ip route add default via 192.0.2.2
            nft add table inet loss
            \(rules.map { "nft \($0)" }.joined(separator: "\n"))
            echo ready
            exec sleep 600
            """
        // If we aren't root, being root in a user namespace of our own is enough.
        var launch = Launch("unshare", (geteuid() == 0 ? ["-n"] : ["-n", "-U", "-r"]) + ["sh", "-c", script])
        launch.standardOutput = .text(limit: 1000)
        launch.standardError = .text(limit: 10_000)
        let holder = try ChildProcess(launch)
        self.holder = holder
        let user = geteuid() == 0 ? [] : ["--user", "--preserve-credentials"]
        prefix = ["nsenter", "--target", "\(holder.processID)", "--net"] + user + ["--"]
        try eventually("a network of our own") {
            if let status = holder.poll() {
                holder.errorOutput?.waitForEnd(within: .seconds(1))
                throw ProgramEnded(status: status, log: holder.errorOutput?.text ?? "")
            }
            return holder.output?.text.contains("ready") == true ? () : nil
        }
    }

    deinit { holder.stop(within: .zero) }

    /// Drops what the connections to TCP `port` that there are now would receive, for good, as if one end's address had
    /// changed. Returns how many there are.
    func cutConnections(to port: UInt16) throws -> Int {
        let lines = try run("ss", "-Htn", "state", "established", "dport", "=", ":\(port)").split(separator: "\n")
        let ports = lines.compactMap { line in
            // "0 0 127.0.0.1:40312 127.0.0.1:8080"
            line.split(separator: " ").dropFirst(2).first?.split(separator: ":").last
        }
        for port in ports {
            for end in ["sport", "dport"] { try run("nft", "add rule inet loss out tcp \(end) \(port) drop") }
        }
        return ports.count
    }

    /// Lets nothing pass any more on TCP `port` and UDP `other`.
    func interrupt(_ port: UInt16, _ other: UInt16) throws {
        try run("nft", "add chain inet loss gap { type filter hook output priority 1; }")
        for (kind, port) in [("tcp", port), ("udp", other)] {
            for end in ["sport", "dport"] { try run("nft", "add rule inet loss gap \(kind) \(end) \(port) drop") }
        }
    }

    /// Ends the interruption.
    func restore() throws { try run("nft", "flush chain inet loss gap") }

    /// How many datagrams have been lost so far.
    func lostDatagrams() throws -> Int {
        let words = try run("nft", "list", "chain", "inet", "loss", "out").split(separator: " ")
        // "counter packets 7 bytes 6543 drop"
        guard let place = words.firstIndex(of: "packets"), place + 1 < words.count else { return 0 }
        return Int(words[place + 1]) ?? 0
    }

    /// Runs a command inside, and returns its output.
    @discardableResult
    private func run(_ words: String...) throws -> String {
        var launch = Launch(prefix[0], Array(prefix.dropFirst()) + words)
        launch.standardOutput = .text(limit: 10_000)
        return try ChildProcess.run(launch, within: .seconds(10)).output
    }
}
