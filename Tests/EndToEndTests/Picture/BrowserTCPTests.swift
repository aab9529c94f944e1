import BrowserDriver
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// A browser whose network lets no UDP through.
    @Suite(
        "A network without UDP",
        .enabled(if: EndToEnd.hasBrowser && PulseServer.isAvailable),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct BrowserTCPTests {
        @Test(
            "the page shows the desktop over TCP with its sound, by IPv6 too", .timeLimit(.minutes(5)),
            arguments: ["127.0.0.1"] + (hasIPv6 ? ["[::1]"] : []))
        func page(address: String) throws {
            let network = try LossyNetwork(losing: "meta l4proto udp")
            let folder = try TemporaryFolder()
            let pulse = try PulseServer(in: folder)
            let desktop = try SharedDesktop(
                options: ["--listen", address + ":0", "--udp-port", "8189", "--sound", "desktop"], inside: network,
                prefix: ["env", "PULSE_SERVER=\(pulse.address)"])
            let player = try pulse.playTone()
            #expect(desktop.link.contains(address))
            // Chromium's sandbox refuses to run as root, even in a user namespace.
            let browser = try Browser.launch(extraFlags: ["--no-sandbox"], prefix: network.prefix)
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            // A busy machine may not have connected in time, and then begins by the WebSocket.
            try viewer.page.waitUntil("!screenRelay.isByWebSocket")
            try viewer.expectMotion(by: 60)
            try viewer.page.waitUntil("document.getElementById('listen')?.checkVisibility()")
            try viewer.page.evaluate("document.getElementById('listen').click()")
            try viewer.page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
            #expect(player.poll() == nil)
            #expect(try transport(of: viewer) == "tcp")
            #expect(try network.lostDatagrams() > 0, "UDP was tried")
            desktop.scene.freeze()
            let drawn = try desktop.drawnCounter()
            try viewer.waitForCounter(past: drawn - 1)
            #expect(try viewer.counter() == drawn)
            #expect(desktop.host.occurrences(of: " over TCP") == 1)
            #expect(try viewer.reconnects() == 0)
            let status = try CommandLineRun([
                "screenrelay", "status", "--json", "--pid", "\(desktop.host.child.processID)",
            ])
            #expect(status.output.contains(#""tcpViewers":1,"#), "\(status.output)")
        }

        /// What carries the pair of candidates that is in use.
        private func transport(of viewer: ViewerPage) throws -> String? {
            try viewer.page.evaluate(
                """
                (async () => {
                  const report = await window.connections[0].getStats();
                  for (const entry of report.values()) {
                    if (entry.type !== 'transport' || !entry.selectedCandidatePairId) continue;
                    const pair = report.get(entry.selectedCandidatePairId);
                    return report.get(pair.remoteCandidateId).protocol;
                  }
                  return null;
                })()
                """
            ).string
        }
    }
}
