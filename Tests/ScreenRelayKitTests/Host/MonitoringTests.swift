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

    @Test(
        "alerts fire for the room whose viewers have no source, and for a host that is overloaded or gone",
        .enabled(if: PrometheusServer.isAvailable))
    func alerts() throws {
        let folder = try TemporaryFolder()
        func series(_ metric: String, _ labels: String, _ values: String) -> String {
            "      - { series: 'screenrelay_\(metric){job=\"screenrelay\",\(labels)}', values: '\(values)' }"
        }
        let input = [
            #"      - { series: 'up{job="screenrelay",instance="a"}', values: '1x20' }"#,
            #"      - { series: 'up{job="screenrelay",instance="b"}', values: '0x20' }"#,
            series("room_viewers", #"room="1""#, "2x20"), series("room_tracks", #"room="1",state="live""#, "0x20"),
            series("room_tracks", #"room="1",state="gone""#, "1x20"),
            series("room_viewers", #"room="2""#, "2x20"), series("room_tracks", #"room="2",state="live""#, "1x20"),
            series("room_viewers", #"room="3""#, "0x20"), series("room_tracks", #"room="3",state="live""#, "0x20"),
            series("dropped_frames_total", #"reason="overload""#, "0x5 7x15"),
            series("dropped_frames_total", #"reason="slow_path""#, "0x5 7x15"),
        ].joined(separator: "\n")
        let text = """
            rule_files: ["\(Self.rules)"]
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
            \(input)
                promql_expr_test:
                  - expr: count by (alertname, instance, room) (ALERTS{alertstate="firing"})
                    eval_time: 8m
                    exp_samples:
                      - { labels: '{alertname="ScreenRelayDown", instance="b"}', value: 1 }
                      - { labels: '{alertname="ScreenRelayNoSource", room="1"}', value: 1 }
                      - { labels: '{alertname="ScreenRelayOverloaded"}', value: 1 }

            """
        let file = try folder.write("alerts.yml", Array(text.utf8))
        let test = try PrometheusServer.promtool(["test", "rules", file])
        #expect(test.status == .exited(0), "\(test.output)")
    }
}
