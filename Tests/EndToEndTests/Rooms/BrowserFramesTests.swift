import BrowserDriver
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Pictures and sound over the page's WebSocket, where WebRTC finds no path.
    @Suite("Pictures over the WebSocket", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserFramesTests {
        /// What the browser has to play them with: everything, no streams of decoded pictures, or, as on a page of
        /// plain HTTP from another machine, no WebCodecs.
        enum Player: String, CaseIterable {
            case whole = ""
            case canvas = "window.MediaStreamTrackGenerator = undefined;"
            case mediaSource = "window.VideoDecoder = window.AudioDecoder = undefined;"
        }

        /// What a browser lacks of WebRTC: H.264, such as Debian's Firefox without OpenH264, or all of it, where that
        /// is turned off.
        enum Lack: String, CaseIterable {
            case h264 = "RTCRtpReceiver.getCapabilities = () => ({ codecs: [], headerExtensions: [] });"
            case webRTC = "window.RTCPeerConnection = window.RTCRtpReceiver = undefined;"
        }

        /// Hides the host's candidates from the page's connections while `hidesHost` is true; keeps the names of what
        /// the page sends; and loses as many binary messages as `losses` says.
        private static let obstacles = """
            window.hidesHost = true;
            window.sent = [];
            window.losses = 0;
            const accept = RTCPeerConnection.prototype.setRemoteDescription;
            RTCPeerConnection.prototype.setRemoteDescription = function (description) {
              const { type, sdp } = description;
              const hidden = window.hidesHost ? sdp.replace(/^a=candidate:.*\\r\\n/gm, "") : sdp;
              return accept.call(this, { type, sdp: hidden });
            };
            window.WebSocket = class extends WebSocket {
              constructor(...values) {
                super(...values);
                this.addEventListener("message", (event) => {
                  if (typeof event.data === "string" || window.losses === 0) return;
                  window.losses -= 1;
                  event.stopImmediatePropagation();
                });
              }
              send(text) {
                window.sent.push(JSON.parse(text).eventName);
                super.send(text);
              }
            };
            """

        /// Opens a page that finds no path by WebRTC, and waits for its pictures.
        private func open(
            _ link: String, in browser: Browser, _ player: Player = .whole, lacks: String = "", trustsAll: Bool = false
        ) throws -> ViewerPage {
            let page = try browser.newPage("about:blank")
            if trustsAll { try page.send("Security.setIgnoreCertificateErrors", ["ignore": true]) }
            try page.runBeforeLoad(Self.obstacles + player.rawValue + lacks)
            try page.navigate(link)
            let viewer = ViewerPage(page)
            try viewer.waitUntilPlaying()
            #expect(try page.evaluate("screenRelay.isByWebSocket").bool == true)
            return viewer
        }

        @Test(
            "are played as those by WebRTC: sharp, measured, paused, and none is late", .timeLimit(.minutes(5)),
            arguments: Player.allCases)
        func played(player: Player) throws {
            let desktop = try SharedDesktop()
            let viewer = try open(desktop.link, in: Browser.shared(), player)
            let page = viewer.page
            try viewer.expectMotion(by: 30)
            expectPatches(in: try #require(try viewer.picture()), "\(player)")
            try page.waitUntil("/^\\d+ ms · \\d+ fps · .*bit.s · 640 × 480$/.test(screenRelay.figures)")
            try page.evaluate("document.getElementById('figures').click()")
            try page.waitUntil("document.querySelector('.paths')?.innerText.includes('WebSocket')")
            let words = try page.evaluate("document.querySelector('.paths').innerText").string ?? ""
            #expect(words.contains("UDP: ") && words.contains("Relay: not configured."), "\(words)")

            // A still screen's last picture is shown at once, and not only with the next one, 2.5 s later; on a busy
            // machine, at the third time.
            let isPrompt = try (0..<3).contains { _ in
                try viewer.expectMotion()
                let begin = now()
                desktop.scene.freeze()
                defer { desktop.scene.thaw() }
                let last = try counter(on: desktop)
                let comes = try? viewer.waitForCounter(past: last - 1, within: .seconds(2))
                return comes != nil && now() - begin < .milliseconds(2400)
            }
            #expect(isPrompt)

            let pid = "\(desktop.host.child.processID)"
            #expect(try CommandLineRun(["screenrelay", "pause", "--pid", pid]).status == .exited(0))
            try page.waitUntil("screenRelay.source === 'paused'")
            #expect(try CommandLineRun(["screenrelay", "resume", "--pid", pid]).status == .exited(0))
            try page.waitUntil("screenRelay.source === 'live'")
            try viewer.expectMotion()
            #expect(try page.evaluate("screenRelay.isByWebSocket").bool == true)
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        /// The scene's counter, as FFmpeg sees it on the screen.
        private func counter(on desktop: SharedDesktop) throws -> Int {
            let grabbed = try FFmpeg.grab(display: desktop.screen.name, width: 640, height: 480)
            let picture = try #require(ScenePicture(bytes: grabbed.bytes, width: 640, height: 480))
            return try #require(PatchScene.counterValue(in: picture))
        }

        /// What somebody types is a picture now and then, at even distances for seconds.
        @Test(
            "are shown one by one if they come evenly and seldom", .timeLimit(.minutes(5)), arguments: Player.allCases)
        func seldom(player: Player) throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let viewer = try open(desktop.link, in: Browser.shared(), player)
            let page = viewer.page
            try viewer.expectMotion()
            try page.evaluate(
                """
                window.shown = 0;
                const video = document.getElementById('video');
                video.requestVideoFrameCallback(function next() {
                  window.shown += 1;
                  video.requestVideoFrameCallback(next);
                });
                """)
            // A player that takes them for a stream of a fixed rate does so after 33, and shows few from then on. A
            // busy machine may miss some, too.
            var before = try viewer.waitForCounter(past: -1)
            try eventually("three of four pictures in a row of 60", within: .seconds(90)) {
                try page.evaluate("shown = 0")
                let after = try viewer.waitForCounter(past: before + 59)
                defer { before = after }
                return try page.evaluate("shown").int ?? 0 >= (after - before) * 3 / 4
            }
            #expect(try viewer.reconnects() == 0)
        }

        @Test(
            "one that is lost is followed by a key picture", .timeLimit(.minutes(5)),
            arguments: [Player.whole, .mediaSource])
        func lost(player: Player) throws {
            let desktop = try SharedDesktop()
            let viewer = try open(desktop.link, in: Browser.shared(), player)
            try viewer.expectMotion()
            try viewer.page.evaluate("window.sent.length = 0; window.losses = 3")
            try viewer.page.waitUntil("sent.includes('__frames_key') && losses === 0")
            try viewer.expectMotion()
            expectPatches(in: try #require(try viewer.picture()), "after a loss")
            #expect(try viewer.page.evaluate("sent.includes('__frames_seen')").bool == true)
            #expect(try viewer.reconnects() == 0)
        }

        @Test(
            "come at once to a browser that plays no H.264 by WebRTC", .timeLimit(.minutes(5)),
            arguments: Lack.allCases)
        func without(lack: Lack) throws {
            let desktop = try SharedDesktop()
            let viewer = try open(desktop.link, in: Browser.shared(), lacks: lack.rawValue)
            let page = viewer.page
            try viewer.expectMotion()
            // The host isn't asked for what couldn't be played, then or later.
            try page.evaluate("window.dispatchEvent(new Event('online'))")
            try viewer.expectMotion()
            #expect(try page.evaluate("sent.includes('__offer')").bool == false)
            try page.evaluate("document.getElementById('figures').click()")
            try page.waitUntil("document.querySelector('.paths')?.innerText.includes('play H.264 over WebRTC')")
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("don't come to a browser that plays no H.264 at all, and the page says so", .timeLimit(.minutes(5)))
        func unplayable() throws {
            let desktop = try SharedDesktop()
            let page = try Browser.shared().newPage("about:blank")
            let lacks = Lack.h264.rawValue + Player.mediaSource.rawValue + "window.MediaSource = undefined;"
            try page.runBeforeLoad(Self.obstacles + lacks)
            try page.navigate(desktop.link)
            try page.waitUntil("screenRelay.phase === 'failed'")
            #expect(try page.evaluate("screenRelay.error").string == "This browser cannot play H.264.")
        }

        @Test("give way to WebRTC when a network change opens a path", .timeLimit(.minutes(5)))
        func way() throws {
            let desktop = try SharedDesktop()
            let viewer = try open(desktop.link, in: Browser.shared())
            try viewer.expectMotion()
            try viewer.page.evaluate("window.hidesHost = false")
            // The page doesn't try more often than every 10 s.
            try viewer.page.waitUntil("window.dispatchEvent(new Event('online')), !screenRelay.isByWebSocket")
            #expect(try viewer.page.evaluate("sent.includes('__frames_stop')").bool == true)
            try viewer.expectMotion()
            #expect(try viewer.page.evaluate("screenRelay.phase").string == "playing")
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test("go on where another attempt finds no path", .timeLimit(.minutes(5)))
        func noWay() throws {
            let desktop = try SharedDesktop()
            let viewer = try open(desktop.link, in: Browser.shared())
            try viewer.page.evaluate("window.sent.length = 0")
            try viewer.page.waitUntil("window.dispatchEvent(new Event('online')), sent.includes('__offer')")
            try viewer.page.waitUntil("sent.includes('__frames')")
            try viewer.expectMotion()
            #expect(try viewer.page.evaluate("screenRelay.isByWebSocket").bool == true)
            #expect(try viewer.reconnects() == 0)
        }

        @Test(
            "come by HTTPS, too", .enabled(if: ProgramLookup.path(of: "openssl") != nil), .timeLimit(.minutes(5)))
        func secured() throws {
            let files = try TemporaryFolder()
            let made = try MadeCertificate()
            let certificate = try files.write("certificate.pem", made.text)
            let key = try files.write("key.pem", made.key)
            let desktop = try SharedDesktop(options: ["--tls-cert", certificate, "--tls-key", key])
            let viewer = try open(desktop.link, in: Browser.shared(), trustsAll: true)
            try viewer.expectMotion()
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test(
            "bring their sound once it is turned on, in step with them", .enabled(if: PulseServer.isAvailable),
            .timeLimit(.minutes(5)), arguments: [Player.whole, .mediaSource])
        func sound(player: Player) throws {
            let server = try PulseServer(in: TemporaryFolder())
            let tone = try server.playTone()
            defer { tone.stop(within: .seconds(1)) }
            let desktop = try SharedDesktop(
                options: ["--sound", "desktop"], prefix: ["env", "PULSE_SERVER=\(server.address)"])
            let viewer = try open(desktop.link, in: Browser.shared(), player)
            let page = viewer.page
            try page.waitUntil("screenRelay.sound === 'live' && document.getElementById('listen')?.checkVisibility()")
            #expect(try page.evaluate("sent.includes('__frames_sound')").bool == false, "it costs nothing until then")
            try page.evaluate("document.getElementById('listen').click()")
            try page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.3", within: .seconds(10))
            #expect(try page.evaluate("sent.includes('__frames_heard')").bool == true)

            // Media Source plays some 0.2 s later, for which pictures don't wait to the end.
            if player == .whole {
                try page.evaluate("document.getElementById('figures').click()")
                try page.waitUntil(
                    """
                    [...document.querySelectorAll('.chart')].some((one) => {
                      const [title, value] = one.querySelectorAll('p span');
                      const lag = Number.parseInt(value.textContent.replace('−', '-'), 10);
                      return title.textContent === 'Sound' && Math.abs(lag) <= 40;
                    })
                    """)
            }
            try page.evaluate("document.getElementById('speaker').click()")
            try page.waitUntil(
                "sent.filter((name) => name === '__frames_sound').length >= 2 && screenRelay.audioLevel === 0")
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
