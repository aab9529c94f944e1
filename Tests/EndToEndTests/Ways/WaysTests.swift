import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Every way in feeds every way out at once; each is looked at and listened to.
    @Suite(
        "Ways in and out",
        .enabled(
            if: EndToEnd.hasBrowser && PythonClient.isAvailable && FFmpeg.isAvailable && PulseServer.isAvailable
                && RTSPToneServer.isAvailable))
    struct WaysTests {
        @Test("each way in reaches each way out, as the document's table has it", .timeLimit(.minutes(15)))
        func matrix() throws {
            let browser = try Browser.shared()
            let recordings = try TemporaryFolder()
            let peers = try WaysPeers()
            var table = WaysTable(corner: "way in")
            for way in WayIn.allCases {
                let begin = now()
                table.rows.append((way.rawValue, try cells(way, peers, recordings, browser)))
                print("\(way.rawValue): \((now() - begin).milliseconds) ms")
            }
            table.compare(withSection: "Ways in and out")
        }

        private func cells(
            _ way: WayIn, _ peers: WaysPeers, _ recordings: TemporaryFolder, _ browser: Browser
        ) throws -> [WayOut: String] {
            let run = try WaysRun(way, peers: peers, recordings: recordings)
            try run.watch(in: browser)
            run.takeSnapshots()
            run.waitForAll()
            let found = try run.end()
            return run.judge(WayOut.allCases) { out in
                if out == .snapshot { return "frames" }
                return found[out]?.isMoving == true && found[out]?.hasTone == true ? "frames, audio" : nil
            } summary: {
                "\(way.rawValue): \(found[$0]?.summary ?? "nothing")"
            }
        }
    }
}

extension WaysRun {
    /// The cells of some ways out: what `cell` returns, or that it fails, which is an issue.
    func judge(
        _ outs: [WayOut], _ cell: (WayOut) -> String?, summary: (WayOut) -> String
    ) -> [WayOut: String] {
        var cells: [WayOut: String] = [:]
        for out in outs {
            if failures[out] == nil, let text = cell(out) {
                cells[out] = text
            } else {
                Issue.record("\(out.rawValue): \(failures[out] ?? ""); \(summary(out)); the host's log: \(host.log)")
                cells[out] = WaysTable.failing
            }
        }
        return cells
    }
}
