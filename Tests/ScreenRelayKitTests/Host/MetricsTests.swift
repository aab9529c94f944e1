import MediaSessions
import MediaTypes
import Signalling
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayKit

@Suite("Metrics")
struct MetricsTests {
    @Test("histograms are cumulative, in seconds, and end with all of them")
    func histograms() throws {
        var metrics = Metrics()
        for delay in [100, 700, 900, 5_000_000] as [Int64] {
            metrics.tracks.work.stages.encoding.add(.microseconds(delay))
        }
        metrics.tracks.work.bytes = .max
        let found = try ExposedMetrics(metrics.prometheusText)
        #expect(found.value("screenrelay_captured_bytes_total") != nil)
        let prefix = "screenrelay_stage_seconds_bucket{stage=\"encoding\",le=\""
        let buckets = found.samples.filter { $0.name.hasPrefix(prefix) }
        let bounds = try buckets.map { bucket in
            try #require(Double(bucket.name.dropFirst(prefix.count).dropLast(2).replacing("+Inf", with: "inf")))
        }
        #expect(bounds.first == 0.00025 && bounds.last == .infinity && bounds == bounds.sorted())
        #expect(buckets.map(\.value).prefix(4) == [1, 1, 3, 3] && buckets.last?.value == 4)
        #expect(found.value("screenrelay_stage_seconds_count{stage=\"encoding\"}") == 4)
        #expect(found.value("screenrelay_stage_seconds_sum{stage=\"encoding\"}") == 5.0017)
        for stage in ["waiting", "link", "sending"] {
            #expect(found.value("screenrelay_stage_seconds_count{stage=\"\(stage)\"}") == 0)
        }
    }

    @Test("rates of paths are bytes per second, in cumulative buckets")
    func rates() throws {
        var metrics = Metrics()
        for rate in [80_000, 2_000_000, 2_000_001, 900_000_000] {
            metrics.sent.estimates.add(BitRate(bitsPerSecond: rate))
        }
        let found = try ExposedMetrics(metrics.prometheusText)
        func bucket(_ bound: String) -> Double? {
            found.value("screenrelay_path_bytes_per_second_bucket{le=\"\(bound)\"}")
        }
        #expect(bucket("12500") == 1 && bucket("250000") == 2 && bucket("375000") == 3)
        #expect(bucket("12500000") == 3 && bucket("+Inf") == 4)
        #expect(found.value("screenrelay_path_bytes_per_second_count") == 4)
        #expect(found.value("screenrelay_path_bytes_per_second_sum") == 113_010_000.125)
    }

    @Test("dropped packets and frames have a reason each")
    func drops() throws {
        var metrics = Metrics()
        metrics.sent.drops.udpPackets = 1
        metrics.sent.drops.tcpPackets = 2
        metrics.sent.drops.overloadPackets = 3
        metrics.sent.drops.overloadFrames = 4
        metrics.droppedPoints = 5
        metrics.droppedChatMessages = 6
        let found = try ExposedMetrics(metrics.prometheusText)
        let packets = ["udp", "tcp", "overload"].map { reason in
            found.value("screenrelay_dropped_packets_total{reason=\"\(reason)\"}")
        }
        #expect(packets == [1, 2, 3])
        #expect(found.value("screenrelay_dropped_frames_total{reason=\"overload\"}") == 4)
        #expect(found.value("screenrelay_dropped_points_total") == 5)
        #expect(found.value("screenrelay_dropped_chat_messages_total") == 6)
    }

    @Test("rooms have numbers, those from the 17th on one together, and removed tracks still count")
    func rooms() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.furtherRooms = (2...19).map { HostRoom(name: "room\($0)", token: nil) }
        // The number of time series is highest with as many media threads as there may be.
        configuration.mediaThreads = 8
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let tracks = try [2, 17, 19].map { try host.addTrack("screen", to: "room\($0)") }
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(tracks[0].publish(source))
        tracks[0].requestKeyFrame()
        let found = try ExposedMetrics(host.metrics.prometheusText)
        #expect(found.samples.count { $0.name.hasPrefix("screenrelay_room_viewers{") } == 17)
        func count(_ room: String, _ state: String) -> Double? {
            found.value("screenrelay_room_tracks{room=\"\(room)\",state=\"\(state)\"}")
        }
        #expect(count("1", "waiting") == 1 && count("2", "live") == 1 && count("2", "waiting") == 0)
        #expect(count("16", "waiting") == 0 && count("other", "waiting") == 2)
        let requests = try #require(found.value("screenrelay_source_key_frame_requests_total"))
        #expect(requests >= 1)
        #expect(found.samples.count < 300)

        source.end(reason: "it was a test")
        host.removeTrack("screen", from: "room2")
        let later = try ExposedMetrics(host.metrics.prometheusText)
        #expect(later.value("screenrelay_room_tracks{room=\"2\",state=\"live\"}") == 0)
        #expect(later.value("screenrelay_source_key_frame_requests_total") == requests)
    }

    @Test("media threads are numbered from 0, each with its sessions, its lag and what it has sent")
    func threadSeries() throws {
        var metrics = Metrics()
        for number in 1...2 {
            var totals = MediaTotals()
            totals.sentPackets = number * 10
            totals.sentBytes = UInt64(number) * 1000
            metrics.mediaThreads.append(
                MediaThreadStatistics(sessions: number, lag: .milliseconds(Int64(number) * 5), totals: totals))
        }
        let found = try ExposedMetrics(metrics.prometheusText)
        func values(_ thread: Int) -> [Double?] {
            ["sessions", "lag_seconds", "sent_packets_total", "sent_bytes_total"].map { name in
                found.value("screenrelay_media_thread_\(name){thread=\"\(thread)\"}")
            }
        }
        #expect(values(0) == [1, 0.005, 10, 1000])
        #expect(values(1) == [2, 0.01, 20, 2000])
    }

    @Test("the sessions of two media threads are together the host's viewers")
    func threads() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.mediaThreads = 2
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        for _ in 1...4 {
            _ = try host.firstTrack.media.openFrames(
                for: "192.0.2.1", sink: { _ in }, soundSink: { _ in }, onEnd: { _ in })
        }
        try eventually(
            "the sessions of both threads",
            holds: {
                let found = try ExposedMetrics(host.metrics.prometheusText)
                let sessions = (0...2).map { found.value("screenrelay_media_thread_sessions{thread=\"\($0)\"}") }
                return sessions == [2, 2, nil] && found.value("screenrelay_viewers") == 4
            })
    }

    @Test("publishers are counted by protocol and by what becomes of their pictures, as long as they publish")
    func publishers() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        host.firstTrack.describe(TrackPublication(transport: .srt, text: "HEVC", isReencoded: true))
        let found = try ExposedMetrics(host.metrics.prometheusText)
        #expect(found.value("screenrelay_publishers{protocol=\"SRT\",pictures=\"reencoded\"}") == 1)
        #expect(found.value("screenrelay_publishers{protocol=\"SRT\",pictures=\"unchanged\"}") == 0)
        #expect(found.value("screenrelay_publishers{protocol=\"RTSP\",pictures=\"reencoded\"}") == 0)
        host.firstTrack.describe(nil)
        let later = try ExposedMetrics(host.metrics.prometheusText)
        #expect(later.value("screenrelay_publishers{protocol=\"SRT\",pictures=\"reencoded\"}") == 0)
    }

    /// The metrics in the table of Documentation/operating.md, with their types and units.
    private func documentedMetrics() throws -> [String: (type: String, unit: String)] {
        let lines = String(decoding: try fileBytes(packageRoot + "/Documentation/operating.md"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let head = try #require(lines.firstIndex { $0.hasPrefix("| name, after `screenrelay_` |") })
        var documented: [String: (type: String, unit: String)] = [:]
        for row in lines[(head + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = row.split(separator: "|").map { $0.replacing("`", with: "").split(separator: " ") }
            try #require(cells.count >= 4 && cells[0].count == 1, "\(row)")
            documented["screenrelay_" + cells[0][0]] = (cells[1].joined(), cells[2].joined(separator: "_"))
        }
        return documented
    }

    @Test("curl reads those of the guide from a host that runs, and they show neither its room nor its token")
    func overHTTP() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.room = "secretdesk"
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let port = try #require(host.addresses.first).port
        let text = try PrometheusServer.text(at: "http://127.0.0.1:\(port)/metrics")
        let found = try ExposedMetrics(text)
        #expect(found.value("screenrelay_viewers") == 0)
        let documented = try documentedMetrics()
        #expect(found.types == documented.mapValues { $0.type })
        for (name, metric) in documented {
            let base = name.hasSuffix("_total") ? String(name.dropLast(6)) : name
            // Names end with base units; what is counted is part of other names.
            for unit in ["bytes_per_second", "seconds", "bytes"] {
                #expect(base.hasSuffix("_" + unit) == (metric.unit == unit), "\(name)")
            }
        }
        let token = try #require(configuration.token)
        for secret in ["secretdesk", token, "127.0.0.1"] { #expect(!text.contains(secret)) }
    }
}
