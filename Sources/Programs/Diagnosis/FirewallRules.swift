import Signalling

/// The rules of nftables, as `nft -j list ruleset` prints them (libnftables-json(5)), and their effect on a packet.
struct FirewallRules {
    /// The first packet of a viewer, whose source isn't known.
    struct Packet {
        enum Transport: String {
            case udp, tcp
        }

        var transport: Transport
        /// The destination port.
        var port: UInt16
        /// The interface on which the packet arrives; nil if that isn't known, but not `lo`.
        var interface: String?
    }

    /// The effect of rules on a packet.
    enum Verdict {
        case accept, drop
        /// Nothing: the next rule decides.
        case next
        /// The effect depends on unknown facts or expressions.
        case unknown
    }

    private var chains: [String: Chain] = [:]

    private struct Chain {
        var name: String
        /// Whether packets to this machine pass it before any other.
        var isFirst: Bool
        var dropsByDefault: Bool
        var rules: [[JSONValue]] = []
    }

    /// Nil if the text isn't such a list.
    init?(json: String) {
        guard let items = JSONValue(parsing: json)?["nftables"]?.array else { return nil }
        for item in items {
            if let chain = item["chain"], let name = Self.name(of: chain, "name") {
                let hook = chain["hook"]?.text
                chains[name] = Chain(
                    name: name, isFirst: chain["type"]?.text == "filter" && (hook == "input" || hook == "prerouting"),
                    dropsByDefault: chain["policy"]?.text == "drop")
            } else if let rule = item["rule"], let name = Self.name(of: rule, "chain") {
                chains[name]?.rules.append(rule["expr"]?.array ?? [])
            }
        }
    }

    /// The family, the table and the name of a chain, as commands expect them.
    private static func name(of node: JSONValue, _ key: String) -> String? {
        guard let family = node["family"]?.text, let table = node["table"]?.text, let name = node[key]?.text,
            // Most viewers connect over IPv4.
            family == "inet" || family == "ip"
        else { return nil }
        return "\(family) \(table) \(name)"
    }

    /// The chain that surely drops the packet, such as `inet filter input`; nil if none does.
    func chainThatDrops(_ packet: Packet) -> String? {
        chains.values.filter(\.isFirst).sorted { $0.name < $1.name }.first { chain in
            switch verdict(of: chain, on: packet, depth: 0) {
            case .drop: true
            case .next: chain.dropsByDefault
            case .accept, .unknown: false
            }
        }?.name
    }

    private func verdict(of chain: Chain, on packet: Packet, depth: Int) -> Verdict {
        // The kernel allows 16 (NFT_JUMP_STACK_SIZE).
        guard depth < 16 else { return .unknown }
        for rule in chain.rules {
            switch verdict(of: rule[...], in: chain, on: packet, depth: depth) {
            case (.next, let returns): if returns { return .next }
            case (let verdict, _): return verdict
            }
        }
        return .next
    }

    /// The verdict of a rule, and whether it ends its chain without a verdict.
    private func verdict(
        of rule: ArraySlice<JSONValue>, in chain: Chain, on packet: Packet, depth: Int
    ) -> (Verdict, returns: Bool) {
        var isCertain = true
        for statement in rule {
            guard let (kind, body) = statement.onlyField else { return (.unknown, false) }
            switch kind {
            case "match":
                switch packet.matches(body) {
                case false?: return (.next, false)
                case true?: break
                case nil: isCertain = false
                }
            case "counter", "log", "comment": break
            case "vmap":
                let (found, returns) = verdict(ofMap: body, in: chain, on: packet, depth: depth)
                if found != .next || returns { return isCertain ? (found, returns) : (.unknown, false) }
            case "accept", "drop", "reject", "jump", "goto", "return":
                let (found, returns) = outcome(kind, body, in: chain, on: packet, depth: depth)
                if isCertain { return (found, returns) }
                return found == .next && !returns ? (.next, false) : (.unknown, false)
            // A limit, a match of iptables, or an unknown expression.
            default: isCertain = false
            }
        }
        return (.next, false)
    }

    private func outcome(
        _ kind: String, _ body: JSONValue, in chain: Chain, on packet: Packet, depth: Int
    ) -> (Verdict, returns: Bool) {
        switch kind {
        case "accept": return (.accept, false)
        case "drop", "reject": return (.drop, false)
        case "return": return (.next, true)
        default:
            let place = chain.name.split(separator: " ").dropLast().joined(separator: " ")
            guard let target = body["target"]?.text, let next = chains["\(place) \(target)"] else {
                return (.unknown, false)
            }
            // After a goto, the chain that it stands in is over.
            return (verdict(of: next, on: packet, depth: depth + 1), kind == "goto")
        }
    }

    private func verdict(
        ofMap map: JSONValue, in chain: Chain, on packet: Packet, depth: Int
    ) -> (Verdict, returns: Bool) {
        guard let key = map["key"], let pairs = map["data"]?["set"]?.array else { return (.unknown, false) }
        for pair in pairs {
            guard let pair = pair.array, pair.count == 2, let (kind, body) = pair[1].onlyField else {
                return (.unknown, false)
            }
            switch packet.holds(key, pair[0]) {
            case true?: return outcome(kind, body, in: chain, on: packet, depth: depth)
            case false?: continue
            case nil: return (.unknown, false)
            }
        }
        return (.next, false)
    }
}

extension FirewallRules.Packet {
    /// Whether the packet matches an expression of a rule; nil if that isn't known.
    fileprivate func matches(_ match: JSONValue) -> Bool? {
        guard let left = match["left"], let right = match["right"] else { return nil }
        let result = holds(left, right)
        switch match["op"]?.text {
        case "==", "in": return result
        case "!=": return result.map { !$0 }
        default: return nil
        }
    }

    /// Whether the packet's property that `key` names is `value`, or one of several.
    fileprivate func holds(_ key: JSONValue, _ value: JSONValue) -> Bool? {
        if let values = value["set"]?.array ?? value.array {
            let results = values.map { holds(key, $0) }
            if results.contains(true) { return true }
            return results.contains(nil) ? nil : false
        }
        if let payload = key["payload"] { return holds(payload: payload, value) }
        switch (key["meta"]?["key"]?.text, key["ct"]?["key"]?.text) {
        case ("l4proto", _): return isTransport(value)
        case ("iifname", _), ("iif", _):
            guard let name = value.text, !name.hasSuffix("*") else { return nil }
            return name == "lo" ? false : interface.map { $0 == name }
        case (_, "state"): return value.text.map { $0 == "new" }
        // The packet isn't one that this machine forwards.
        case (_, "status"): return false
        case ("nfproto", _): return value.text.map { $0 == "ipv4" }
        default: return nil
        }
    }

    private func holds(payload: JSONValue, _ value: JSONValue) -> Bool? {
        switch (payload["protocol"]?.text, payload["field"]?.text) {
        case ("ip", "protocol"): return isTransport(value)
        case ("ip6", _): return false
        case (transport.rawValue, "dport"), ("th", "dport"):
            if let range = value["range"]?.array, range.count == 2, let first = range[0].number,
                let last = range[1].number
            {
                return first <= Double(port) && Double(port) <= last
            }
            return value.number.map { $0 == Double(port) }
        case ("udp", _), ("tcp", _), ("icmp", _), ("icmpv6", _), ("sctp", _), ("dccp", _), ("udplite", _):
            return payload["protocol"]?.text == transport.rawValue ? nil : false
        default: return nil
        }
    }

    private func isTransport(_ value: JSONValue) -> Bool? {
        if let number = value.number { return number == (transport == .udp ? 17 : 6) }
        return value.text.map { $0 == transport.rawValue }
    }
}
