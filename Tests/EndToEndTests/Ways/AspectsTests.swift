import BrowserDriver
import Foundation
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// What else each way out has to do; one host for several aspects, with all ways out at once.
    @Suite(
        "Aspects of the ways out",
        .enabled(
            if: EndToEnd.hasBrowser && PythonClient.isAvailable && FFmpeg.isAvailable && PulseServer.isAvailable
                && hasIPv6))
    struct AspectsTests {
        typealias Cells = [WayOut: String]

        let recordings: TemporaryFolder
        init() throws { recordings = try TemporaryFolder() }

        @Test("each aspect is seen and heard at each way out, as the document's table has it", .timeLimit(.minutes(15)))
        func aspects() throws {
            let browser = try Browser.shared()
            let peers = try WaysPeers()
            var table = WaysTable(corner: "aspect")
            for aspect in [
                { try held(peers, browser) }, { try expiring(peers, browser, meanwhile: unwatched) },
                { try addressed(browser) }, { try inFullColour(peers) },
            ] {
                let begin = now()
                let rows = try aspect()
                print("\(rows.map(\.name).joined(separator: ", ")): \((now() - begin).milliseconds) ms")
                table.rows += rows
            }
            table.compare(withSection: "Aspects of the ways out")
        }

        func ask(_ words: [String], _ run: WaysRun) throws -> String {
            let program = try #require(run.program)
            let answer = try CommandLineRun(["screenrelay"] + words + ["--pid", "\(program.child.processID)"])
            try #require(answer.status == .exited(0), "\(words): \(answer.errorOutput)")
            return answer.output
        }

        /// Expects a snapshot to be refused with these words.
        private func refuseSnapshot(_ run: WaysRun, _ words: String) {
            let environment = run.variation.certificate.map { ["SSL_CERT_FILE": $0] } ?? [:]
            run.attempt(.snapshot) {
                let answer = try CommandLineRun(
                    ["screenrelay", "snapshot", run.host.link, "-o", run.folder.file("refused.png")],
                    environment: environment)
                guard answer.status != .exited(0), answer.errorOutput.contains(words) else {
                    throw DeadlineMissed(what: "'\(words)', not \(answer)")
                }
            }
        }

        // MARK: - Pause, mute, remove

        /// The sharer pauses, resumes, mutes and unmutes, each for three seconds, and sends everybody away.
        private func held(_ peers: WaysPeers, _ browser: Browser) throws -> [(name: String, cells: Cells)] {
            let run = try WaysRun(
                .capture, .init(options: ["--presenters"], playTime: nil), peers: peers, recordings: recordings)
            try run.watch(in: browser)
            run.attempt(.hls) { try run.startHLSPlayer() }
            run.waitForAll()
            run.takeSnapshots()
            for command in ["pause", "resume", "mute", "unmute"] {
                _ = try ask([command], run)
                let asked = now()
                if command == "pause" {
                    run.attempt(.snapshot) {
                        try eventually("nothing of the scene") { try LinkSnapshot(of: run.host.link).counter == nil }
                    }
                }
                if command == "resume" { run.takeSnapshots() }
                try eventually("three seconds") { now() - asked > .seconds(3) }
            }
            let removed = try remove(run)
            let found = try run.end()
            func summary(_ out: WayOut) -> String { found[out]?.summary ?? "nothing" }
            let paused = run.judge(WayOut.allCases) { out in
                out == .snapshot ? "stands still" : found[out]?.showsPause == true ? "stands still" : nil
            } summary: {
                "pause: \(summary($0))"
            }
            let muted = run.judge(WayOut.allCases) { out in
                out == .snapshot ? "no (1)" : found[out]?.hasMute == true ? "silent" : nil
            } summary: {
                "mute: \(summary($0))"
            }
            return [("pause", paused), ("mute", muted), ("remove", removed)]
        }

        /// Sends away whoever is in the room.
        private func remove(_ run: WaysRun) throws -> Cells {
            let document = try JSONDecoder().decode(JSONValue.self, from: Data(ask(["rooms", "--json"], run).utf8))
            for member in document["rooms"][0]["members"].array ?? [] {
                _ = try ask(["remove", try #require(member["id"].string)], run)
            }
            var cells = Dictionary(uniqueKeysWithValues: WayOut.allCases.map { ($0, "no (2)") })
            cells[.snapshot] = "no (3)"
            let ended = expectEnd(run, card: "You were removed by the person sharing.")
            for (out, isFine) in ended { cells[out] = isFine ? "ends" : WaysTable.failing }
            return cells
        }

        /// Whether the page shows the card, and the clients by WHEP and WebSocket get no more.
        private func expectEnd(_ run: WaysRun, card: String) -> [WayOut: Bool] {
            func holds(_ out: WayOut, _ condition: () throws -> Bool) -> Bool {
                do {
                    try eventually("the end", holds: condition)
                    return true
                } catch {
                    Issue.record("\(out.rawValue) goes on: \(error); \(run.observation(of: out).summary)")
                    return false
                }
            }
            return [
                .page: holds(.page) { try run.page?.card() == card },
                .whep: holds(.whep) {
                    Double(now().nanoseconds) / 1e9 - (run.observation(of: .whep).lastFrame ?? 0) > 1.5
                },
                .webSocket: holds(.webSocket) {
                    run.clients[.webSocket]?.first?.events.contains { $0["event"] as? String == "closed" } == true
                },
            ]
        }

        // MARK: - No WebRTC

        /// Nobody watches by WebRTC: players of RTSP first, and then one client over the WebSocket.
        private func unwatched() throws -> [(name: String, cells: Cells)] {
            let peers: [WayOut] = [.page, .whep, .whipPush, .janus, .skyRTC, .socketIO]
            let outs = WayOut.allCases.filter { !peers.contains($0) }
            let run = try WaysRun(.capture, .init(outs: outs, playTime: 4), peers: nil, recordings: recordings)
            try eventually("audio") { try ask(["status", "--json"], run).contains(#""sound":"live""#) }
            for way in [WayOut.rtsp, .pcmu] { try run.startPlayer(way) }
            for way in [WayOut.rtsp, .pcmu] {
                run.attempt(way) { try eventually("the player's end") { run.hasEnded(way) } }
            }
            run.takeSnapshots()
            try run.startClient(.webSocket)
            run.waitForAll()
            let found = try run.end()
            var cells = run.judge(outs) { out in
                if out == .snapshot { return "frames" }
                // What goes out by itself was there before the client was.
                let seen = [.webSocket, .rtsp, .pcmu].contains(out) ? found[out] : found[out]?.during(0...4)
                return seen?.isMoving == true && seen?.hasTone == true ? "frames, audio" : nil
            } summary: {
                "no WebRTC: \(found[$0]?.summary ?? "nothing")"
            }
            for out in peers { cells[out] = "no (4)" }
            return [("no WebRTC viewer", cells)]
        }

        // MARK: - TLS, key frames, expiry

        /// A host with TLS reads a file that has one key frame, and its link expires; `meanwhile` has other rows.
        private func expiring(
            _ peers: WaysPeers, _ browser: Browser, meanwhile: () throws -> [(name: String, cells: Cells)]
        ) throws -> [(name: String, cells: Cells)] {
            let folder = try TemporaryFolder()
            let certificate = try MadeCertificate()
            let file = try folder.write("certificate.pem", certificate.text)
            let options = ["--tls-cert", file, "--tls-key", try folder.write("key.pem", certificate.key)]
            let run = try WaysRun(
                .file,
                .init(
                    options: options + ["--expires", "20s"], playTime: nil, certificate: file,
                    makesKeyFrames: false), peers: peers, recordings: recordings)
            // The host runs by now, so the link expires at this time or before.
            let expired = Double(now().nanoseconds) / 1e9 + 20
            try eventually("more than the hub keeps") { run.pushedBytes > 3 << 20 }
            try run.watch(in: browser)
            run.waitForAll()
            // All files have begun by now.
            let lag = Double(now().nanoseconds) / 1e9 - run.begin
            run.takeSnapshots()
            let others = try meanwhile()
            let program = try #require(run.program)
            try eventually("the expiry") { program.output.contains("have expired") }
            let ended = expectEnd(run, card: "This invite link has expired.")
            for way in [WayOut.rtsp, .pcmu] {
                run.attempt(way) { try eventually("the player's end") { run.hasEnded(way) } }
            }
            refuseSnapshot(run, "doesn't accept this invite link")
            try eventually("two seconds of each file") { Double(now().nanoseconds) / 1e9 - expired > lag + 2 }
            let found = try run.end()
            func summary(_ out: WayOut) -> String { "one key frame, expiry: \(found[out]?.summary ?? "nothing")" }
            let plain = run.judge(WayOut.allCases) { out in
                if out == .snapshot { return "frames" }
                return found[out]?.isMoving == true && found[out]?.hasTone == true ? "frames, audio" : nil
            } summary: {
                summary($0)
            }
            let late = run.judge(WayOut.allCases) { out in
                if let isFine = ended[out] { return isFine ? "ends" : nil }
                if [.rtsp, .pcmu].contains(out) { return "ends" }
                if out == .snapshot { return "refused" }
                // A file's time begins after the host does.
                let begin = out.isLive ? expired + 0.5 : expired - run.begin
                let rest = found[out]?.during(begin...(.infinity))
                return rest?.isMoving == true && rest?.hasTone == true ? "goes on" : nil
            } summary: {
                summary($0)
            }
            var secure = plain
            for out in [WayOut.rtsp, .pcmu] { secure[out] = "no (5)" }
            for out in [WayOut.rtmp, .whipPush, .janus, .skyRTC, .socketIO] { secure[out] = "`ServerCertificateTests`" }
            secure[.srt] = plain[.srt] == WaysTable.failing ? WaysTable.failing : "passphrase (6)"
            for out in [WayOut.hls, .file, .recording] { secure[out] = "no (7)" }
            return others + [("no key frames", plain), ("expiry", late), ("TLS", secure)]
        }

        // MARK: - IPv6 and tracks

        /// Everything has an address of IPv6, the room has a second track, with another tone, and the sharer pauses.
        private func addressed(_ browser: Browser) throws -> [(name: String, cells: Cells)] {
            let peers = try WaysPeers(at: "::1")
            let folder = try TemporaryFolder()
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-f", "lavfi", "-i",
                "sine=880:sample_rate=48000", "-t", "60", "-af", "volume=6", "-c:v", "libx264", "-bf", "0", "-g", "25",
                "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "libopus", folder.file("second.mkv"),
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            let source = "file:" + folder.file("second.mkv") + ",track=second"
            let run = try WaysRun(
                .file, .init(options: ["--source", source], playTime: nil, address: "[::1]"), peers: peers,
                recordings: recordings)
            for way in [WayOut.whep, .webSocket] { try run.startClient(way, track: ("second", 880)) }
            try run.watch(in: browser)
            for way in [WayOut.rtsp, .pcmu] { try run.startPlayer(way, track: "second") }
            run.takeSnapshots()
            run.waitForAll()
            run.attempt(.page) { _ = try run.page?.viewer.page.waitUntil("!screenRelay.isByWebSocket") }
            var tracks = Dictionary(uniqueKeysWithValues: WayOut.allCases.map { ($0, "no (8)") })
            tracks[.page] = "`BrowserTracksTests`"
            tracks[.recording] = "`SeveralRecordingsTests`"
            for out in [WayOut.rtmp, .srt, .hls, .file, .whipPush, .janus] { tracks[out] = "`TrackPushTests`" }
            for way in [WayOut.whep, .webSocket] {
                run.attempt(way) {
                    try eventually("the second track's frames and tone") {
                        let seen = run.observation(of: way, track: "second")
                        return seen.isMoving && seen.hasTone
                    }
                }
            }
            run.attempt(.snapshot) {
                let sizes = try ["screen", "second"].map {
                    try LinkSnapshot(of: run.host.link, track: $0).picture.width
                }
                guard sizes == [320, 160] else { throw DeadlineMissed(what: "pictures, not \(sizes) wide") }
            }
            for command in ["pause", "resume"] {
                _ = try ask([command], run)
                let asked = now()
                if command == "pause" { refuseSnapshot(run, "paused") }
                try eventually("three seconds") { now() - asked > .seconds(3) }
            }
            let found = try run.end()
            for way in [WayOut.rtsp, .pcmu] {
                run.attempt(way) {
                    let seen = try DecodedFile(run.played(way, track: "second"), hertz: 880, in: folder).observation()
                    guard seen.isMoving && seen.hasTone else { throw DeadlineMissed(what: seen.summary) }
                }
            }
            let cells = run.judge(WayOut.allCases) { out in
                if out == .snapshot { return "frames" }
                if [.hls, .file, .recording].contains(out) { return "no (7)" }
                return found[out]?.isMoving == true && found[out]?.hasTone == true ? "frames, audio" : nil
            } summary: {
                "IPv6: \(found[$0]?.summary ?? "nothing")"
            }
            for out in [WayOut.whep, .webSocket, .rtsp, .pcmu, .snapshot] { tracks[out] = cells[out] }
            let paused = run.judge(WayOut.allCases) { out in
                out == .snapshot ? "refused" : found[out]?.showsPause == true ? "stands still" : nil
            } summary: {
                "pause of a source: \(found[$0]?.summary ?? "nothing")"
            }
            return [("IPv6", cells), ("second track", tracks), ("pause of a source", paused)]
        }
    }
}
