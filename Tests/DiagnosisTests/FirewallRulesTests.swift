import Testing

@testable import Diagnosis

/// Rules as nft 1.0.6 prints them.
@Suite("Rules of a firewall")
struct FirewallRulesTests {
    private static func match(_ left: String, _ right: String, op: String = "==") -> String {
        "{\"match\":{\"op\":\"\(op)\",\"left\":\(left),\"right\":\(right)}}"
    }
    private static let port = "{\"payload\":{\"protocol\":\"udp\",\"field\":\"dport\"}}"
    private static let loopback = match("{\"meta\":{\"key\":\"iifname\"}}", "\"lo\"")
    private static let states =
        "{\"vmap\":{\"key\":{\"ct\":{\"key\":\"state\"}},\"data\":{\"set\":[[\"established\",{\"accept\":null}],"
        + "[\"related\",{\"accept\":null}],[\"invalid\",{\"drop\":null}]]}}}"
    private static let accept = "{\"accept\":null}"
    private static let drop = "{\"drop\":null}"

    /// The chain that drops a viewer's datagram to UDP port 8189, with these rules in the chain `input`, of this
    /// policy, and these in another chain, `more`.
    private func chain(_ rules: [[String]], policy: String = "accept", more: [[String]] = []) -> String? {
        let place = "\"family\":\"inet\",\"table\":\"filter\""
        var items = [
            "{\"metainfo\":{\"version\":\"1.0.6\"}}", "{\"table\":{\"family\":\"inet\",\"name\":\"filter\"}}",
            "{\"chain\":{\(place),\"name\":\"more\"}}",
            "{\"chain\":{\(place),\"name\":\"input\",\"type\":\"filter\",\"hook\":\"input\",\"prio\":0,"
                + "\"policy\":\"\(policy)\"}}",
        ]
        for (name, list) in [("input", rules), ("more", more)] {
            items += list.map { "{\"rule\":{\(place),\"chain\":\"\(name)\",\"expr\":[\($0.joined(separator: ","))]}}" }
        }
        let rules = FirewallRules(json: "{\"nftables\":[\(items.joined(separator: ","))]}")
        return rules?.chainThatDrops(FirewallRules.Packet(transport: .udp, port: 8189, interface: "eth0"))
    }

    @Test("a rule for the port, and a policy that nothing makes an exception of, drop it")
    func drops() {
        #expect(chain([]) == nil)
        #expect(chain([[Self.match(Self.port, "8189"), Self.drop]]) == "inet filter input")
        #expect(chain([[Self.match(Self.port, "8190"), Self.drop]]) == nil)
        #expect(chain([[Self.match(Self.port, "8190", op: "!="), Self.drop]]) == "inet filter input")
        #expect(
            chain([[Self.match(Self.port, "{\"range\":[8000,9000]}"), "{\"reject\":null}"]]) == "inet filter input")
        let usual = [[Self.loopback, Self.accept], [Self.states]]
        #expect(chain(usual, policy: "drop") == "inet filter input")
        #expect(chain(usual + [[Self.match(Self.port, "{\"set\":[53,8189]}"), Self.accept]], policy: "drop") == nil)
    }

    @Test("other chains are followed, and come back or not")
    func jumps() {
        let jump = "{\"jump\":{\"target\":\"more\"}}"
        let accepts = [[Self.match(Self.port, "8189"), Self.accept]]
        #expect(chain([[jump]], policy: "drop", more: accepts) == nil)
        #expect(chain([[jump]], policy: "drop", more: [["{\"return\":null}"]] + accepts) == "inet filter input")
        #expect(chain([["{\"goto\":{\"target\":\"more\"}}"], [Self.drop]], more: []) == nil)
        // A chain that leads to itself has no end.
        #expect(chain([[jump]], policy: "drop", more: [[jump]]) == nil)
    }

    @Test("nothing is said about what depends on more than the port, or isn't understood")
    func unknown() {
        let source = Self.match("{\"payload\":{\"protocol\":\"ip\",\"field\":\"saddr\"}}", "\"10.0.0.1\"")
        #expect(chain([[source, Self.accept]], policy: "drop") == nil)
        #expect(chain([["{\"xt\":{\"type\":\"match\",\"name\":\"udp\"}}", Self.accept]], policy: "drop") == nil)
        #expect(chain([["{\"limit\":{\"rate\":5}}", Self.drop]]) == nil)
        #expect(chain([["{\"limit\":{\"rate\":5}}", "{\"log\":null}"]], policy: "drop") == "inet filter input")
        #expect(FirewallRules(json: "no") == nil)
        #expect(FirewallRules(json: "{}") == nil)
    }
}
