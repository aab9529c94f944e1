import MediaTypes
import Processes
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite("Metrics")
struct MetricsTests {
    /// The samples of a text in Prometheus's format 0.0.4, by name with labels, and the metric that each belongs to; it
    /// must have a type and a help text in front.
    private func samples(_ text: String) throws -> [(name: String, metric: String, value: Double)] {
        var described: [String: Set<Substring>] = [:]
        var samples: [(String, String, Double)] = []
        try #require(text.hasSuffix("\n"))
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# ") {
                try #require(words.count == 4 && ["HELP", "TYPE"].contains(words[1]), "\(line)")
                described[String(words[2]), default: []].insert(words[1])
                if words[1] == "TYPE" { #expect(["gauge", "counter", "histogram"].contains(words[3])) }
                continue
            }
            try #require(words.count == 2, "\(line)")
            let value = try #require(Double(words[1]), "\(line)")
            var family = String(words[0].prefix { $0 != "{" })
            for ending in ["_bucket", "_sum", "_count"] where described[String(family.dropLast(ending.count))] != nil {
                if family.hasSuffix(ending) { family = String(family.dropLast(ending.count)) }
            }
            #expect(described[family] == ["HELP", "TYPE"], "\(line)")
            samples.append((String(words[0]), family, value))
        }
        return samples
    }

    @Test("histograms are cumulative, in seconds, and end with all of them")
    func histograms() throws {
        var metrics = Metrics()
        for delay in [100, 700, 900, 5_000_000] as [Int64] { metrics.work.stages.encoding.add(.microseconds(delay)) }
        metrics.work.bytes = .max
        let found = try samples(metrics.prometheusText)
        #expect(found.first { $0.name == "screenrelay_captured_bytes_total" } != nil)
        #expect(Set(found.map(\.name)).count == found.count)
        let prefix = "screenrelay_stage_seconds_bucket{stage=\"encoding\",le=\""
        let buckets = found.filter { $0.name.hasPrefix(prefix) }
        let bounds = try buckets.map { bucket in
            try #require(Double(bucket.name.dropFirst(prefix.count).dropLast(2).replacing("+Inf", with: "inf")))
        }
        #expect(bounds.first == 0.00025 && bounds.last == .infinity && bounds == bounds.sorted())
        #expect(buckets.map(\.value).prefix(4) == [1, 1, 3, 3] && buckets.last?.value == 4)
        #expect(found.contains { $0.name == "screenrelay_stage_seconds_count{stage=\"encoding\"}" && $0.value == 4 })
        #expect(found.contains { $0.name == "screenrelay_stage_seconds_sum{stage=\"encoding\"}" && $0.value == 5.0017 })
        for stage in ["waiting", "link", "sending"] {
            #expect(
                found.contains { $0.name == "screenrelay_stage_seconds_count{stage=\"\(stage)\"}" && $0.value == 0 })
        }
    }

    /// The metrics in the table of Protocol/http.md.
    private func documentedMetrics() throws -> Set<String> {
        let lines = String(decoding: try fileBytes(packageRoot + "/Protocol/http.md"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let head = try #require(lines.firstIndex { $0.hasPrefix("| name, after `screenrelay_` |") })
        let rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }
        let names = rows.compactMap { $0.split(separator: "|").first }.flatMap { cell in
            cell.matches(of: /`([a-z_]+)`/).map { "screenrelay_\($0.output.1)" }
        }
        try #require(names.count > 10)
        return Set(names)
    }

    @Test("curl reads those of Protocol/http.md from a host that runs, and they show neither its room nor its token")
    func overHTTP() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.room = "secretdesk"
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let port = try #require(host.addresses.first).port
        var launch = Launch(
            "curl", ["--silent", "--fail", "--max-time", "10", "http://127.0.0.1:\(port)/metrics"])
        launch.standardOutput = .text(limit: 1 << 20)
        let (status, output, _) = try ChildProcess.run(launch, within: .seconds(15))
        #expect(status == .exited(0))
        let found = try samples(output)
        #expect(found.contains { $0.name == "screenrelay_viewers" && $0.value == 0 })
        #expect(Set(found.map(\.metric)) == (try documentedMetrics()))
        let token = try #require(configuration.token)
        for secret in ["secretdesk", token, "127.0.0.1"] { #expect(!output.contains(secret)) }
    }
}
