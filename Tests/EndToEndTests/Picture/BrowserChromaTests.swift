import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// 4:4:4 in Chromium, which decodes High 4:4:4 Predictive. A page that is kept from listing it stands for players
    /// that don't.
    @Suite("4:4:4", .enabled(if: EndToEnd.hasBrowser && FFmpeg.isAvailable))
    struct BrowserChromaTests {
        private let folder: TemporaryFolder
        private let host: RunningProgram
        private let link: String
        private let browser: Browser

        init() throws {
            folder = try TemporaryFolder()
            host = try RunningProgram(
                "screenrelay", ["host", "--link", "unix:" + folder.file("s.sock")] + LinkSocket.hostOptions)
            link = try host.printedLink()
            browser = try Browser.shared()
        }

        private func sender(changesChroma: Bool) throws -> ChromaSender {
            try ChromaSender(path: folder.file("s.sock"), changesChroma: changesChroma)
        }

        /// Keeps a page from listing 4:4:4.
        static let limit = """
            const add = RTCPeerConnection.prototype.addTransceiver;
            RTCPeerConnection.prototype.addTransceiver = function (...values) {
              const transceiver = add.apply(this, values);
              if (values[0] === 'video') transceiver.setCodecPreferences(RTCRtpReceiver.getCapabilities('video').codecs
                .filter(({ sdpFmtpLine }) => !/profile-level-id=f4/i.test(sdpFmtpLine ?? '')));
              return transceiver;
            };
            """

        private func limitedPage() throws -> ViewerPage {
            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(Self.limit)
            try page.navigate(link)
            return ViewerPage(page)
        }

        private func phase(_ viewer: ViewerPage) throws -> String? {
            try viewer.page.evaluate("window.screenRelay?.phase").string
        }

        private func text(_ viewer: ViewerPage) throws -> String {
            try viewer.page.evaluate("document.body.innerText").string ?? ""
        }

        /// Expects that the page says what is wrong, and what the sharer could do.
        private func expectReason(_ viewer: ViewerPage) throws {
            let text = try text(viewer)
            #expect(text.contains("4:4:4") && text.contains("--chroma 444,420"), "\(text)")
        }

        private func waitUntilPlaying(_ viewer: ViewerPage, _ sender: ChromaSender) throws {
            do {
                try sender.wait(for: "the page to play") { try phase(viewer) == "playing" }
            } catch {
                Issue.record("\(error): '\(try text(viewer))'; host: \(host.log)")
                throw error
            }
        }

        /// The mean red of the red columns and of the black ones, and the largest value of another colour component.
        static func stripes(_ picture: ScenePicture) -> (red: Int, black: Int, other: Int) {
            var (red, black, other) = (0, 0, 0)
            for row in 0..<picture.height {
                for column in 0..<picture.width {
                    let index = row * picture.rowBytes + column * picture.bytesPerPixel
                    if column % 2 == 1 { red += Int(picture.bytes[index]) } else { black += Int(picture.bytes[index]) }
                    other = max(other, Int(picture.bytes[index + 1]), Int(picture.bytes[index + 2]))
                }
            }
            let count = max(1, picture.width * picture.height / 2)
            return (red / count, black / count, other)
        }

        @Test(
            "is seen sharp in the page; who can't decode it is told why, also when it was there first",
            .timeLimit(.minutes(5)))
        func fixed() throws {
            let early = try limitedPage()
            try early.page.waitUntil("window.screenRelay.phase === 'negotiating'")
            let sender = try sender(changesChroma: false)
            try sender.wait(for: "the early page's end") { try phase(early) == "failed" }
            try expectReason(early)
            try host.waitForLog("shared in 4:4:4")

            let viewer = try ViewerPage(link, in: browser)
            try waitUntilPlaying(viewer, sender)
            let picture = try #require(try viewer.picture())
            #expect(picture.width == ChromaSender.size.width && picture.height == ChromaSender.size.height)
            let seen = Self.stripes(picture)
            #expect(seen.red >= 240, "\(seen)")
            #expect(seen.black <= 12, "\(seen)")
            #expect(seen.other <= 24, "\(seen)")

            let late = try limitedPage()
            try sender.wait(for: "the late page's end") { try phase(late) == "failed" }
            try expectReason(late)

            let player = try WHEPPlayer(link, in: browser)
            try player.page.evaluate(Self.limit + "0")
            let refusal = try player.open()
            #expect(refusal["status"].int == 422)
            #expect(refusal["reason"].string?.contains("--chroma 444,420") == true)
            let all = try WHEPPlayer(link, in: browser)
            let session = try all.open()
            #expect(session["status"].int == 201)
            #expect(session["answer"].string?.contains("profile-level-id=f4001f") == true)
            #expect(sender.formats.isEmpty)
            #expect(try viewer.reconnects() == 0)

        }

        @Test(
            "of a capture that is gone is shown in 4:2:0, until a capture in 4:4:4 comes back", .timeLimit(.minutes(5)))
        func gone() throws {
            let first = try sender(changesChroma: false)
            let viewer = try ViewerPage(link, in: browser)
            try waitUntilPlaying(viewer, first)
            // Snapshots are 4:2:0, too: two columns share one colour, and each has its own brightness.
            first.close()
            try host.waitForLog("capture is gone")
            let snapshot = Self.stripes(try LinkSnapshot(of: link).picture)
            #expect(snapshot.red > 100 && snapshot.black > 30, "\(snapshot)")

            let limited = try limitedPage()
            try limited.waitUntilPlaying()
            let seen = Self.stripes(try #require(try limited.picture()))
            #expect(seen.red > 100 && seen.black > 30, "\(seen)")
            #expect(try viewer.reconnects() == 0)

            let second = try sender(changesChroma: false)
            try second.wait(for: "the limited page's end") { try phase(limited) == "failed" }
            try expectReason(limited)
            try second.wait(for: "4:4:4 in the other page") {
                try Self.stripes(#require(try viewer.picture())).black <= 12
            }
            #expect(try viewer.reconnects() == 0)
        }

        @Test(
            "gives way to 4:2:0 while somebody needs that, and comes back, without a new connection",
            .timeLimit(.minutes(5)))
        func changing() throws {
            let sender = try sender(changesChroma: true)
            let viewer = try ViewerPage(link, in: browser)
            try waitUntilPlaying(viewer, sender)
            #expect(sender.formats.isEmpty)
            #expect(Self.stripes(try #require(try viewer.picture())).black <= 12)

            let limited = try limitedPage()
            try waitUntilPlaying(limited, sender)
            #expect(sender.formats == [.yuv420])
            try sender.wait(for: "4:2:0 in the first page") {
                Self.stripes(try #require(try viewer.picture())).black > 30
            }
            limited.page.close()
            try sender.wait(for: "4:4:4 in the first page", within: .seconds(120)) {
                try sender.formats == [.yuv420, .yuv444] && Self.stripes(#require(try viewer.picture())).black <= 12
            }
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}
