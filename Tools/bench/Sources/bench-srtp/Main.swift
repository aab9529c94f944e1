import CommandLine
import Glibc
import SecureTransport

/// Measures how long SRTP takes for a packet, for different numbers of sessions.
@main
enum SRTPBench {
    private static let program = "bench-srtp"
    private static let sessionCounts = [1, 100, 1_000, 3_000]
    /// The bytes of a packet before it is protected.
    private static let packetSize = 1_200
    /// The number of packets in each round; each session sends at least one.
    private static let roundSize = 3_000
    /// The most nanoseconds that GCM may take, and the largest ratio to the time with one session.
    private static let most = (nanoseconds: 600.0, ratio: 1.5)

    private static let command = Command(
        name: "",
        summary:
            "Protects RTP packets of \(packetSize) bytes with many sessions in turn, by ScreenRelay and by libsrtp2, and "
            + "prints the nanoseconds of processor time that a packet takes in the fastest round.",
        options: [
            Option(long: "rounds", short: "n", value: .required("COUNT"), help: "rounds of each", default: "40"),
            Option(
                long: "check",
                help: "exit with 1 where GCM takes more than 600 ns, or 1.5 times as long as with one session"),
        ],
        examples: [
            Example(
                "swift run -c release --package-path Tools/bench bench-srtp --check", "in the package's folder")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let rounds = try options.required("rounds", as: .integer(1...1_000, what: "number of rounds"))
        var misses: [String] = []
        for profile in SRTPProfile.allCases {
            StandardStreams.print("\(profile.rawValue)\n  sessions   ScreenRelay ns   libsrtp2 ns\n")
            var first: Double?
            for count in sessionCounts {
                let ours = try fastest(rounds, (0..<count).map { try OurSender(keys(profile, $0)) })
                let theirs = try fastest(rounds, (0..<count).map { try LibsrtpSender(keys(profile, $0)) })
                StandardStreams.print(
                    "  \(right(count, 8))   \(right(Int(ours.rounded()), 14))   \(right(Int(theirs.rounded()), 11))\n")
                let alone = first ?? ours
                first = alone
                guard profile == .aeadAES128GCM else { continue }
                if ours > most.nanoseconds {
                    misses.append("\(count) sessions: \(Int(ours)) ns, \(Int(most.nanoseconds)) is the most")
                }
                if ours > most.ratio * alone {
                    misses.append("\(count) sessions: \(Int(ours)) ns, with one session \(Int(alone))")
                }
            }
        }
        guard options.has("check") else { return .success }
        for miss in misses { StandardStreams.printError(miss, program: program) }
        if !misses.isEmpty { exit(1) }
        return .success
    }

    /// The keys of session `number`.
    private static func keys(_ profile: SRTPProfile, _ number: Int) -> SRTPKeys {
        let first = [UInt8(number >> 8 & 255), UInt8(number & 255)]
        let master = SRTPMasterKey(
            key: first + [UInt8](repeating: 7, count: profile.keyCount - 2),
            salt: first + [UInt8](repeating: 9, count: profile.saltCount - 2))
        return SRTPKeys(profile: profile, local: master, remote: master)
    }

    /// The nanoseconds that a packet takes in the fastest of `rounds`.
    ///
    /// The rounds of one library follow each other. If those of libsrtp2 came between ours, each would begin with our
    /// sessions evicted from the processor's cache, because libsrtp2 reads the memory of all its sessions.
    private static func fastest<Sender: PacketSender>(_ rounds: Int, _ senders: [Sender]) throws -> Double {
        var fastest = Double.infinity
        for round in 0..<rounds { fastest = min(fastest, try nanoseconds(senders, round: round)) }
        return fastest
    }

    /// The nanoseconds that a packet takes in one round, in which all senders protect a packet in turn, over and over.
    ///
    /// The packet stays in one buffer, and so in the processor's nearest cache, as if the host had just written it.
    private static func nanoseconds<Sender: PacketSender>(_ senders: [Sender], round: Int) throws -> Double {
        let passes = max(1, roundSize / senders.count)
        var packet: [UInt8] = [0x80, 96, 0, 0] + [UInt8](repeating: 5, count: packetSize - 4)
        packet.reserveCapacity(packetSize + SRTPSession.rtcpRoom)
        let start = processorTime()
        for pass in 0..<passes {
            let number = round * passes + pass
            packet[2] = UInt8(number >> 8 & 255)
            packet[3] = UInt8(number & 255)
            for sender in senders {
                try sender.protect(&packet)
                packet.removeLast(packet.count - packetSize)
            }
        }
        return (processorTime() - start) / Double(passes * senders.count)
    }

    /// The processor time that this thread has used, in nanoseconds; other programs don't count.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func right(_ number: Int, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// One session's sending half.
protocol PacketSender {
    /// Turns an RTP packet into an SRTP packet.
    func protect(_ packet: inout [UInt8]) throws
}

/// A sender that uses SRTP as the host does.
struct OurSender: PacketSender {
    private let session: SRTPSession

    init(_ keys: SRTPKeys) throws { session = try SRTPSession(keys: keys) }

    func protect(_ packet: inout [UInt8]) throws { try session.protect(&packet) }
}
