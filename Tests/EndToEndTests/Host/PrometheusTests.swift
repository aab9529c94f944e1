import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "Prometheus",
        .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable && PrometheusServer.isAvailable))
    struct PrometheusTests {
        /// The guide's configuration with the alert rules, for the host at `address`, which is read every second.
        private func configuration(for address: String) throws -> String {
            let guide = String(decoding: try fileBytes(packageRoot + "/Documentation/operating.md"), as: UTF8.self)
            let lines = guide.split(separator: "\n").drop { $0 != "scrape_configs:" }.prefix { $0 != "```" }
            try #require(lines.count > 1)
            return """
                global: { scrape_interval: 1s, evaluation_interval: 1s }
                rule_files: ["\(packageRoot)/packaging/prometheus-rules.yml"]

                """ + lines.joined(separator: "\n").replacing("127.0.0.1:8080", with: address) + "\n"
        }

        @Test("configured as in the guide, it knows how many watch a host, and what they get", .timeLimit(.minutes(5)))
        func viewers() throws {
            let desktop = try SharedDesktop()
            let parts = desktop.link.split(separator: "#", maxSplits: 1)
            let token = try #require(parts.last?.split(separator: ",", maxSplits: 1).last)
            let players = try (1...2).map { _ in
                try PythonClient("whep_player", in: .rtc, ["\(parts[0])whep/screen", "--token", String(token)])
            }
            for player in players { try player.event("frame") }

            let address = try #require(desktop.link.split(separator: "/").dropFirst().first)
            let folder = try TemporaryFolder()
            let prometheus = try PrometheusServer(try configuration(for: String(address)), in: folder)
            func value(_ expression: String) throws -> Double { try prometheus.values(of: expression).first ?? 0 }
            try eventually("the viewers", holds: { try value("screenrelay_viewers") == 2 })
            try eventually(
                "their sessions", holds: { try value(#"screenrelay_sessions{state="connected"}"#) == 2 })
            #expect(try value("sum(screenrelay_media_thread_sessions)") == 2)
            #expect(try value(#"screenrelay_room_viewers{room="1"}"#) == 2)
            #expect(try value(#"screenrelay_room_tracks{room="1", state="live"}"#) == 1)
            try eventually("bytes per second", holds: { try value("rate(screenrelay_sent_bytes_total[10s])") > 1000 })
            try eventually("the rates of paths", holds: { try value("screenrelay_path_bytes_per_second_count") > 1 })
            #expect(try value("screenrelay_published_key_frames_total") >= 1)

            try eventually("the alert rules") {
                let rules = try PrometheusServer.text(at: "\(prometheus.url)/api/v1/rules")
                #expect(!rules.contains(#""health":"err""#), "\(rules)")
                return rules.contains(#""health":"ok""#) && !rules.contains(#""health":"unknown""#) ? () : nil
            }
            let text = try PrometheusServer.text(at: "http://\(address)/metrics")
            let check = try PrometheusServer.promtool(["check", "metrics"], input: text)
            #expect(check.status == .exited(0), "\(check.output)")

            players[0].child.closeInput()
            try eventually("the viewer that is left", holds: { try value("screenrelay_viewers") == 1 })
        }
    }
}
