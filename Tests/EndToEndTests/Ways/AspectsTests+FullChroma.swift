import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser.AspectsTests {
    /// A capture has only 4:4:4, and all peers decode only 4:2:0.
    func inFullColour(_ peers: WaysPeers) throws -> [(name: String, cells: Cells)] {
        var outs = WayOut.allCases
        outs.removeAll { $0 == .page }
        let run = try WaysRun(
            .capture, .init(outs: outs, options: ["--chroma", "444"], playTime: 4), peers: peers, recordings: recordings
        )
        let program = try #require(run.program)
        try eventually("audio") { try ask(["status", "--json"], run).contains(#""sound":"live""#) }
        for way in [WayOut.whep, .webSocket] { try run.startClient(way) }
        for way in [WayOut.rtsp, .pcmu] { try run.startPlayer(way) }
        let words = "the screen is shared in 4:4:4"
        let lines: [(WayOut, () -> String, String)] = [
            (.whipPush, { program.output }, "the push to whip:"),
            (.janus, { program.output }, "the push to janus:"),
            (.skyRTC, { program.log }, "warning: skyrtc:"), (.socketIO, { program.log }, "warning: socketio:"),
        ]
        for (way, text, begin) in lines {
            run.attempt(way) {
                try eventually("the reason") {
                    text().split(separator: "\n").contains { $0.contains(begin) && $0.contains(words) }
                }
            }
        }
        run.attempt(.whep) {
            try run.clients[.whep]?.first?.event("answered") { answer in
                answer["status"] as? Int == 422 && (answer["text"] as? String)?.hasPrefix(words) == true
            }
        }
        run.attempt(.webSocket) {
            try run.clients[.webSocket]?.first?.event("event") { event in
                let data = event["data"] as? [String: Any]
                return event["name"] as? String == "_refused"
                    && (data?["reason"] as? String)?.hasPrefix(words) == true
            }
        }
        run.takeSnapshots()
        for way in [WayOut.rtsp, .pcmu] {
            run.attempt(way) { try eventually("the player's end") { run.hasEnded(way) } }
        }
        let found = try run.end()
        var cells = run.judge(outs) { out in
            if out.isLive { return "refused" }
            if out == .snapshot { return "frames" }
            guard let file = run.files[out], (try? Self.pixelFormat(of: file)) == "yuv444p" else { return nil }
            return found[out]?.isMoving == true && found[out]?.hasTone == true ? "4:4:4, audio" : nil
        } summary: {
            "4:4:4: \(found[$0]?.summary ?? "nothing")"
        }
        cells[.page] = "`BrowserChromaTests`"
        return [("4:4:4", cells)]
    }

    /// What FFmpeg calls the format of a file's pictures.
    private static func pixelFormat(of file: String) throws -> String {
        let words = ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0"]
        var launch = Launch("ffprobe", words + [file])
        launch.standardOutput = .text(limit: 1 << 12)
        let output = try ChildProcess.run(launch, within: .seconds(90)).output
        return String(output.split(separator: "\n").first ?? "")
    }
}
