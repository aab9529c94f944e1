import CommandLine
import MediaTypes

/// `bench-viewers attack`: disturbs a host while others watch it.
enum AttackCommand {
    enum Kind: String, CaseIterable, Sendable {
        /// Viewers that leave after 5 s.
        case joins
        /// Peers that send a ClientHello, and ignore the answer.
        case hellos
        /// Checks of ICE with wrong passwords.
        case checks
    }

    static let command = Command(
        name: "attack",
        summary: "Disturbs a host with viewers that come and go, handshakes that stop, or wrong checks.",
        options: [
            Option(
                long: "kind", value: .required("KIND"),
                help: "joins: viewers that leave after 5 s; hellos: peers that send a DTLS ClientHello and then stop; "
                    + "checks: ICE checks with wrong passwords from many ports",
                choices: Kind.allCases.map(\.rawValue)),
            .token,
            Option(
                long: "rate", value: .required("COUNT"), help: "joins, peers or checks per second", default: "20"),
            Option(
                long: "seconds", short: "s", value: .required("TIME"), help: "how long they begin; checks: at most 25s",
                default: "10s"),
            .core,
            Option(
                long: "json",
                help: "print one JSON object per line: the event sent once no further peer begins, then result"),
        ],
        operands: .whepAddress,
        examples: [
            Example(
                "bench-viewers attack --kind checks --rate 20000 'http://127.0.0.1:8080/#screen,TOKEN'",
                "20,000 wrong checks per second, for 10 s.")
        ])

    static func run(_ options: ParsedOptions) throws -> ExitCode {
        let address = try options.whepAddress()
        let kind: Kind = try options.required("kind", as: .choice)
        let rate = try options.required("rate", as: .integer(1...100_000, what: "rate"))
        let length = try options.required("seconds", as: .duration)
        guard kind != .checks || length <= CheckAttack.maxLength else {
            throw UsageError("--seconds: checks go on for 25s at most, since the host then ends the sessions they name")
        }
        try options.pinThread()
        let isJSON = options.has("json")
        let plan = Plan(joining: address, rate: rate, for: length, stopsAfterHello: kind == .hellos)
        let figures =
            switch kind {
            case .checks: try CheckAttack(address).run(rate: rate, for: length)
            case .joins, .hellos:
                try PeerAttack.run(plan) {
                    if isJSON { StandardStreams.print("{\"event\": \"sent\"}\n") }
                }
            }
        StandardStreams.print(isJSON ? figures.json.text + "\n" : figures.table.text)
        return .success
    }
}

/// What an attack has counted, for programs and for people.
struct AttackFigures {
    private(set) var json = JSONFields()
    private(set) var table = TextTable()

    init() { json.add("event", text: "result") }

    mutating func add(_ name: String, _ value: Int) {
        json.add(name, value)
        table.add([name, "\(value)"])
    }

    mutating func add(_ name: String, _ value: Distribution) {
        json.add(name, value)
        table.add([name, value.text])
    }

    mutating func add(_ name: String, text: String) {
        json.add(name, text: text)
        table.add([name, text], limit: 200)
    }
}

extension Plan {
    /// Peers that join at a steady rate, for so long.
    init(joining address: WHEPAddress, rate: Int, for length: Interval, stopsAfterHello: Bool = false) {
        self.init(
            address: address, viewers: max(1, Int(length.seconds * Double(rate))), joinRate: rate, feedback: .all,
            offersTransportFeedback: true, sample: 0, warmUp: .zero, length: length, pause: .milliseconds(1),
            stopsAfterHello: stopsAfterHello)
    }
}
