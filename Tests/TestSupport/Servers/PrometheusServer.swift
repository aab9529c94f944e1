import Glibc
import MediaTypes
public import Processes

/// Prometheus and its tool, which `Tools/setup` unpacks.
public final class PrometheusServer {
    private static let folder = packageRoot + "/.build/prometheus/usr/bin"

    /// Whether they are there.
    public static var isAvailable: Bool { access(folder + "/prometheus", X_OK) == 0 }

    /// `http://HOST:PORT` of the server.
    public let url: String
    private let process: ChildProcess

    /// Starts the server with the text of a configuration file.
    public init(_ configuration: String, in folder: TemporaryFolder) throws {
        let address = "127.0.0.1:\(try freePort())"
        url = "http://\(address)"
        let file = try folder.write("prometheus.yml", Array(configuration.utf8))
        var launch = Launch(
            Self.folder + "/prometheus",
            [
                "--config.file=\(file)", "--storage.tsdb.path=\(folder.file("prometheus"))",
                "--web.listen-address=\(address)", "--log.level=warn",
            ])
        launch.standardError = .text(limit: 1 << 20)
        process = try ChildProcess(launch)
    }

    deinit { process.stop(within: .zero) }

    /// What it has said so far.
    public var log: String { process.errorOutput?.text ?? "" }

    /// The values of a query's result; empty if there are none, or while the server begins.
    public func values(of expression: String) throws -> [Double] {
        let (status, output) = try Self.promtool(["query", "instant", url, expression])
        guard status == .exited(0) else { return [] }
        // METRIC{LABELS} => VALUE @[TIME]
        return output.split(separator: "\n").compactMap { line in
            line.split(separator: " ").drop { $0 != "=>" }.dropFirst().first.flatMap { Double($0) }
        }
    }

    /// Runs `promtool` with this input. Returns its status and all that it wrote.
    public static func promtool(
        _ arguments: [String], input: String = ""
    ) throws -> (status: ProcessStatus?, output: String) {
        var launch = Launch(folder + "/promtool", arguments)
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        let tool = try ChildProcess(launch)
        try tool.write(Array(input.utf8))
        tool.closeInput()
        let status = tool.wait(within: .seconds(60))
        if status == nil { tool.stop(within: .zero) }
        for pipe in [tool.output, tool.errorOutput] { pipe?.waitForEnd(within: .seconds(2)) }
        return (status, (tool.output?.text ?? "") + (tool.errorOutput?.text ?? ""))
    }

    /// What `curl` gets from a URL; throws if that fails.
    public static func text(at url: String) throws -> String {
        var launch = Launch("curl", ["--silent", "--show-error", "--fail", "--max-time", "10", url])
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 16)
        let (status, output, log) = try ChildProcess.run(launch, within: .seconds(15))
        guard status == .exited(0) else { throw NoText(url: url, log: log) }
        return output
    }

    private struct NoText: Error, CustomStringConvertible {
        let url: String
        let log: String
        var description: String { "\(url): \(log)" }
    }
}
