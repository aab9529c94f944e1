import CommandLine
import Glibc

/// Measures how long a viewer who joins a still screen waits for its picture.
@main
enum JoinBench {
    private static let program = "bench-join"

    private static let command = Command(
        name: "",
        summary:
            "Shares a still scene, opens its page in headless Chromium again and again while others watch, and prints "
            + "how long the first picture took, and whether capture made a key frame for it.",
        options: [
            Option(long: "joins", short: "n", value: .required("COUNT"), help: "how often to join", default: "20"),
            Option(
                long: "viewers", short: "v", value: .required("COUNT"), help: "how many watch already", default: "2"),
            Option(long: "size", value: .required("WxH"), help: "the size of the screen", default: "1920x1080"),
            Option(
                long: "scene", value: .required("SCENE"), help: "what is on it: desktop or patches", default: "desktop"),
            Option(
                long: "programs", value: .required("FOLDER"),
                help: "where the programs to measure were built; without it, the package's .build/release"),
        ],
        examples: [
            Example(
                "swift build -c release && swift run -c release --package-path Tools/bench bench-join",
                "in the package's folder")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let desktop = try StillDesktop(
            programs: options.value("programs") ?? packageRoot + "/.build/release",
            size: try options.required("size", as: .text), scene: try options.required("scene", as: .text))
        let room = try WatchedRoom(
            desktop, viewers: try options.required("viewers", as: .integer(0...20, what: "number of viewers")))
        let count = try options.required("joins", as: .integer(1...1000, what: "number of joins"))
        let before = desktop.pictures
        let joins = try (0..<count).map { _ in try room.join() }
        let made = desktop.pictures - before
        let wasPrinted = StandardStreams.print(
            """
            joins: \(count), with \(room.viewers) watching already
            from WebSocket open to first picture:  \(Summary(joins.map { $0.picture - $0.open }))
            from navigation to first picture:      \(Summary(joins.map(\.picture)))
            key frames made by capture meanwhile: \(made)

            """)
        return wasPrinted ? .success : .system
    }

    /// The folder of the package that is measured, derived from the path of this file when it was compiled.
    private static let packageRoot: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(5).joined(separator: "/")
    }()
}

/// The median, the 95th percentile and the maximum of some times in milliseconds.
struct Summary: CustomStringConvertible {
    private let times: [Double]

    init(_ times: [Double]) { self.times = times.sorted() }

    var description: String {
        "median \(at(0.5)) ms, 95 % within \(at(0.95)) ms, longest \(at(1)) ms"
    }

    private func at(_ part: Double) -> Double {
        guard let last = times.last else { return 0 }
        // The nearest rank: the smallest of the times that this share of them doesn't exceed.
        let rank = Int((part * Double(times.count)).rounded(.up)) - 1
        return ((times.indices.contains(rank) ? times[rank] : last) * 10).rounded() / 10
    }
}
