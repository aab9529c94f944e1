import Glibc
import Processes
import STUN
import Signalling

/// Whether a rule of nftables drops what viewers send, as far as the rules can be seen and say so for sure.
///
/// Only root sees them. Rules that were made by iptables with its own matches are unknown to us, and so is everything
/// behind them.
struct FirewallCheck {
    let plan: SharePlan

    func findings() -> [Finding] {
        let ports: [(transport: FirewallRules.Packet.Transport, port: UInt16)] =
            [(.udp, plan.mediaAddress.port)] + plan.listen.map { (.tcp, $0.port) }
        guard geteuid() == 0, let rules = Self.currentRules() else { return [] }
        return ports.filter { $0.port != 0 }.compactMap { transport, port in
            let packet = FirewallRules.Packet(transport: transport, port: port, interface: Self.outwardInterface())
            guard let chain = rules.chainThatDrops(packet) else { return nil }
            let name = "\(port)/\(transport.rawValue)"
            return Finding(
                "\(transport.rawValue)-blocked",
                "the nftables chain \(chain) drops packets to \(transport.rawValue.uppercased()) port \(port) from "
                    + "other machines",
                todo: "allow them: ufw allow \(name), firewall-cmd --add-port=\(name), or nft insert rule \(chain) "
                    + "\(transport.rawValue) dport \(port) accept")
        }
    }

    /// The rules in force; nil if there is no nft, or no right to see them.
    private static func currentRules() -> FirewallRules? {
        guard let program = ProgramLookup.path(of: "nft") ?? ProgramLookup.path(of: "/usr/sbin/nft") else { return nil }
        var launch = Launch(program, ["-j", "list", "ruleset"])
        launch.standardOutput = .text(limit: 8 << 20)
        launch.standardError = .null
        guard let run = try? ChildProcess.run(launch, within: .seconds(3)), run.status?.isSuccess == true else {
            return nil
        }
        return FirewallRules(json: run.output)
    }

    /// The interface of the default route, by which other machines' packets usually come (proc(5), /proc/net/route).
    private static func outwardInterface() -> String? {
        let lines = TextFile.read("/proc/net/route")?.split(separator: "\n").dropFirst() ?? []
        let columns = lines.map { $0.split(whereSeparator: \.isWhitespace) }
        return columns.first { $0.count > 1 && $0[1] == "00000000" }.map { String($0[0]) }
    }
}
