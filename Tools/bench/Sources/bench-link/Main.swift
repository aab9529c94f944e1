import CommandLine
import Glibc
import LinkTransport

/// Measures how many bytes a second go over the link.
@main
enum LinkBench {
    private static let program = "bench-link"
    /// The least ratio to the rate of a plain copy that the link has to reach, with messages of this many bytes and
    /// more.
    private static let least = (ratio: 0.5, size: 16_000)
    /// The least rate that the decoder alone has to reach, in bytes a second, with messages of this many bytes.
    private static let minAlone = (rate: 2e9, size: 100_000)
    private static let sizes = [1000, 4000, 16_000, 64_000, 100_000, 250_000, 1_000_000]

    private static let command = Command(
        name: "",
        summary:
            "Sends NAL units over a link, from the encoder to the decoder, in turn with a plain copy of the same bytes "
            + "through a socket of the same kind, and prints both and the decoder alone.",
        options: [
            Option(
                long: "bytes", value: .required("MB"), help: "megabytes in each run", default: "200"),
            Option(
                long: "runs", short: "n", value: .required("COUNT"), help: "runs, of which the middle one counts",
                default: "5"),
            Option(
                long: "size", short: "s", value: .required("BYTES"),
                help: "measure messages of this size alone; may be repeated"),
            Option(
                long: "check",
                help:
                    "exit with 1 where a message of 16 kB or more reaches less than half of the plain copy, or the decoder "
                    + "alone less than 2 GB/s with messages of 100 kB"),
        ],
        examples: [Example("Tools/bench/link --check", "in the package's folder")])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        // Reuse freed memory, as the host does.
        MessageMemory.keep()
        let bytes = try options.required("bytes", as: .integer(1...10_000, what: "number of megabytes")) * 1_000_000
        let runs = try options.required("runs", as: .integer(1...99, what: "number of runs"))
        let given = try options.values("size", as: .integer(6...8_000_000, what: "size"))
        let sizes = given.isEmpty ? Self.sizes : given
        var misses: [String] = []
        for transport in Transport.allCases {
            StandardStreams.print(
                "\(transport.name)\n  bytes a message   messages/s     link GB/s   plain GB/s   ratio\n")
            for size in sizes {
                let course = LinkCourse(messageSize: size, bytes: bytes)
                var pairs: [(link: Double, plain: Double)] = []
                for _ in 0..<runs {
                    let link = try course.overLink(transport)
                    pairs.append((link, try course.plain(transport)))
                }
                let ratio = middle(pairs.map { $0.link / $0.plain })
                let link = middle(pairs.map(\.link))
                let rate = link / Double(size + 40)
                StandardStreams.print(
                    "  \(right("\(size)", 15))   \(right("\(Int(rate))", 10))   \(right(gigabytes(link), 11))   "
                        + "\(right(gigabytes(middle(pairs.map(\.plain))), 10))   \(right(hundredths(ratio), 5))\n")
                if size >= least.size, ratio < least.ratio {
                    misses.append(
                        "\(transport.name), \(size) bytes: \(hundredths(ratio)) of a plain copy, 0.50 is the least")
                }
            }
        }
        StandardStreams.print("the decoder alone\n  bytes a message   messages/s          GB/s\n")
        for size in sizes {
            let course = LinkCourse(messageSize: size, bytes: bytes)
            let rate = middle(try (0..<runs).map { _ in try course.decodedAlone() })
            StandardStreams.print(
                "  \(right("\(size)", 15))   \(right("\(Int(rate / Double(size + 40)))", 10))   \(right(gigabytes(rate), 11))\n"
            )
            if size == minAlone.size, rate < minAlone.rate {
                misses.append("the decoder alone, \(size) bytes: \(gigabytes(rate)) GB/s, 2.00 is the least")
            }
        }
        guard options.has("check") else { return .success }
        for miss in misses { StandardStreams.printError(miss, program: program) }
        if !misses.isEmpty { exit(1) }
        return .success
    }

    private static func middle(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func gigabytes(_ rate: Double) -> String { hundredths(rate / 1e9) }

    private static func hundredths(_ value: Double) -> String {
        let whole = Int((value * 100).rounded())
        let part = whole % 100
        return "\(whole / 100).\(part < 10 ? "0" : "")\(part)"
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
