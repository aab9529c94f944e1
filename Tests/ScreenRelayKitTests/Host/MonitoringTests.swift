import Foundation
import Processes
import ScreenRelayKit
import TestSupport
import Testing

/// The alert rules and the dashboard, which are written by hand.
@Suite("Rules and dashboard for Prometheus")
struct MonitoringTests {
    private static let rules = packageRoot + "/packaging/prometheus-rules.yml"
    private static let dashboard = packageRoot + "/packaging/grafana-dashboard.json"

    /// The queries of the dashboard's panels.
    private func queries() throws -> [String] {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable { let expr: String }
                let targets: [Target]
            }
            let panels: [Panel]
        }
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(fileBytes(Self.dashboard)))
        return dashboard.panels.flatMap { $0.targets.map(\.expr) }
    }

    @Test("they use only metrics and labels that a host has", arguments: [rules, dashboard])
    func names(_ file: String) throws {
        var metrics = Metrics()
        metrics.rooms = [Metrics.Room()]
        let text = metrics.prometheusText
        let exposed = try ExposedMetrics(text)
        let source = String(decoding: try fileBytes(file), as: UTF8.self).replacing("\\\"", with: "\"")
        let names = Set(source.matches(of: /screenrelay_[a-z_]+/).map { String($0.output) })
        #expect(names.count > 5)
        for name in names { #expect(exposed.metric(of: name) != nil, "\(name)") }
        for match in source.matches(of: /\b(state|reason|stage)="[a-z_]+"/) {
            #expect(text.contains(match.output.0), "\(match.output.0)")
        }
    }

    @Test("the dashboard shows every metric")
    func shown() throws {
        let exposed = try ExposedMetrics(Metrics().prometheusText)
        let names = try queries().flatMap { $0.matches(of: /screenrelay_[a-z_]+/).map { String($0.output) } }
        #expect(Set(names.compactMap { exposed.metric(of: $0) }) == Set(exposed.types.keys))
    }

    @Test("promtool finds nothing wrong", .enabled(if: PrometheusServer.isAvailable))
    func checked() throws {
        let metrics = try PrometheusServer.promtool(["check", "metrics"], input: Metrics().prometheusText)
        #expect(metrics.status == .exited(0), "\(metrics.output)")
        let rules = try PrometheusServer.promtool(["check", "rules", Self.rules])
        #expect(rules.status == .exited(0), "\(rules.output)")
        // The dashboard's queries, as rules with which they can be checked.
        var text = "groups:\n- name: dashboard\n  rules:\n"
        for (index, query) in try queries().enumerated() {
            #expect(!query.contains("'"))
            text += "  - alert: Query\(index)\n    expr: '\(query.replacing("$__rate_interval", with: "5m"))'\n"
        }
        let folder = try TemporaryFolder()
        let panels = try PrometheusServer.promtool(["check", "rules", folder.write("dashboard.yml", Array(text.utf8))])
        #expect(panels.status == .exited(0), "\(panels.output)")
    }

    /// A series of a host's metric for promtool: one value per minute.
    private func series(_ metric: String, _ labels: String, _ values: String) -> String {
        "      - { series: 'screenrelay_\(metric){job=\"screenrelay\",\(labels)}', values: '\(values)' }"
    }

    /// Expects that of all alerts about `series`, those with these labels fire so many minutes after the beginning.
    private func expectAlerts(_ alerts: [(minute: Int, labels: [String])], about series: [String]) throws {
        let folder = try TemporaryFolder()
        var text = """
            rule_files: ["\(Self.rules)"]
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
            \(series.joined(separator: "\n"))
                promql_expr_test:

            """
        for (minute, labels) in alerts {
            text += "      - expr: count by (alertname, instance, room) (ALERTS{alertstate=\"firing\"})\n"
            text += "        eval_time: \(minute)m\n"
            let samples = labels.map { "{ labels: '{\($0)}', value: 1 }" }
            text += "        exp_samples: [\(samples.joined(separator: ", "))]\n"
        }
        let file = try folder.write("alerts.yml", Array(text.utf8))
        let test = try PrometheusServer.promtool(["test", "rules", file])
        #expect(test.status == .exited(0), "\(test.output)")
    }

    @Test(
        "alerts fire for the room whose viewers have no source, and for a host that is overloaded or gone",
        .enabled(if: PrometheusServer.isAvailable))
    func alerts() throws {
        let input = [
            #"      - { series: 'up{job="screenrelay",instance="a"}', values: '1x20' }"#,
            #"      - { series: 'up{job="screenrelay",instance="b"}', values: '0x20' }"#,
            series("room_viewers", #"room="1""#, "2x20"), series("room_tracks", #"room="1",state="live""#, "0x20"),
            series("room_tracks", #"room="1",state="gone""#, "1x20"),
            series("room_viewers", #"room="2""#, "2x20"), series("room_tracks", #"room="2",state="live""#, "1x20"),
            series("room_viewers", #"room="3""#, "0x20"), series("room_tracks", #"room="3",state="live""#, "0x20"),
            series("dropped_frames_total", #"reason="overload""#, "0x5 7x15"),
            series("dropped_frames_total", #"reason="slow_path""#, "0x5 7x15"),
        ]
        let firing = [
            #"alertname="ScreenRelayDown", instance="b""#, #"alertname="ScreenRelayNoSource", room="1""#,
            #"alertname="ScreenRelayOverloaded""#,
        ]
        try expectAlerts([(8, firing)], about: input)
    }

    @Test(
        "alerts fire for a host whose trouble lasts, and neither for one in passing trouble nor for one with little",
        .enabled(if: PrometheusServer.isAvailable))
    func lastingTrouble() throws {
        let (lasting, little, passing) = (#"instance="lasting""#, #"instance="little""#, #"instance="passing""#)
        /// These values again and again, for longer than the last expectation.
        func repeated(_ values: String) -> String { [String](repeating: values, count: 12).joined(separator: " ") }
        let sending = #"stage="sending""#
        let input: [String] = [
            series("sessions", #"\#(lasting),state="connecting""#, "2x30"),
            series("sessions", #"\#(passing),state="connecting""#, repeated("2 2 0")),
            series("sent_packets_total", lasting, "0+6000x30"), series("lost_packets_total", lasting, "0+600x30"),
            series("sent_packets_total", little, "0+6000x30"), series("lost_packets_total", little, "0+120x30"),
            // Half of the packets, but hardly any are sent.
            series("sent_packets_total", passing, "0+600x30"), series("lost_packets_total", passing, "0+300x30"),
            series("dropped_packets_total", #"\#(lasting),reason="udp""#, "0+180x30"),
            series("dropped_packets_total", #"\#(little),reason="udp""#, "0+30x30"),
            series("dropped_packets_total", #"\#(passing),reason="udp""#, "0x9 450x20"),
            series("media_loop_lag_seconds", lasting, "0.08x30"), series("media_loop_lag_seconds", little, "0.04x30"),
            series("media_loop_lag_seconds", passing, repeated("0.3 0.01")),
            // Of 1,000 pictures a minute, 100 and 10 need longer than 0.1 s.
            series("stage_seconds_bucket", #"\#(lasting),\#(sending),le="0.1""#, "0+900x30"),
            series("stage_seconds_bucket", #"\#(lasting),\#(sending),le="0.5""#, "0+1000x30"),
            series("stage_seconds_bucket", #"\#(lasting),\#(sending),le="+Inf""#, "0+1000x30"),
            series("stage_seconds_bucket", #"\#(little),\#(sending),le="0.1""#, "0+990x30"),
            series("stage_seconds_bucket", #"\#(little),\#(sending),le="0.5""#, "0+1000x30"),
            series("stage_seconds_bucket", #"\#(little),\#(sending),le="+Inf""#, "0+1000x30"),
            series("source_key_frame_requests_total", lasting, "0+60x30"),
            series("source_key_frame_requests_total", little, "0+12x30"),
        ]
        func firing(_ names: [String]) -> [String] { names.map { "alertname=\"ScreenRelay\($0)\", \(lasting)" } }
        // Each takes the time over which it looks, and then the time for which the trouble must last.
        let early = ["Late", "NotConnecting", "LosingPackets", "DroppingPackets"]
        let expected: [(minute: Int, labels: [String])] = [
            (1, []), (4, firing(["Late"])), (9, firing(early)), (13, firing(early + ["SlowSending"])),
            (20, firing(early + ["SlowSending", "ManyKeyFrames"])),
        ]
        try expectAlerts(expected, about: input)
    }
}
