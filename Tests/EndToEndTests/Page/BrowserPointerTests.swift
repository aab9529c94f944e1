import BrowserDriver
import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The pointer beside the pictures and in them: there is exactly one at each moment, wherever it is drawn.
    @Suite("The pointer", .enabled(if: EndToEnd.hasBrowser && FFmpeg.isAvailable))
    struct BrowserPointerTests {
        /// A host without a capture of its own, a capture that the test controls, and a browser.
        private final class Room {
            let folder: TemporaryFolder
            let host: RunningProgram
            let link: String
            let capture: PointerCapture
            let browser: Browser

            init() throws {
                folder = try TemporaryFolder()
                let path = folder.file("s.sock")
                host = try RunningProgram.host("unix:" + path, ["--log", "debug"])
                link = try host.printedLink()
                capture = try PointerCapture(path: path)
                browser = try Browser.shared()
            }

            /// Sends `count` pictures, 50 ms apart.
            func send(_ count: Int, drawn: Bool? = nil) throws {
                for _ in 0..<count {
                    try capture.send(drawn: drawn)
                    poll(nil, 0, 50)
                }
            }

            /// Sends pictures until `condition` holds in `page`.
            func send(until condition: String, in page: Page, _ limit: Interval = .seconds(15)) throws {
                try eventually("\(condition)", within: limit) {
                    try send(1)
                    return try page.evaluate("Boolean(\(condition))").bool == true ? () : nil
                }
            }
        }

        /// Looks at each picture as it is shown: is the pointer in it, does the page draw one over it, and how many
        /// changes has the page been told by then?
        static func observer(x: Int, y: Int) -> String {
            """
            window.presented = [];
            window.told = [];
            window.WebSocket = class extends window.WebSocket {
              constructor(...words) {
                super(...words);
                this.addEventListener('message', ({ data }) => {
                  if (typeof data !== 'string' || !data.includes('"_pointer_mode"')) return;
                  const { rtp } = JSON.parse(data).data;
                  if (Number.isInteger(rtp)) told.push(rtp);
                });
              }
            };
            const begin = setInterval(() => {
              const video = document.querySelector('video');
              if (!video) return;
              clearInterval(begin);
              const canvas = document.createElement('canvas');
              canvas.width = canvas.height = 1;
              const context = canvas.getContext('2d', { willReadFrequently: true });
              const look = (now, { rtpTimestamp, mediaTime }) => {
                video.requestVideoFrameCallback(look);
                if (video.videoWidth !== 640) return;
                // A late callback finds the next picture in its place, which has a callback of its own.
                const frame = new VideoFrame(video);
                const isThisOne = Math.abs(frame.timestamp / 1e6 - mediaTime) < 1e-4;
                context.drawImage(frame, \(x), \(y), 1, 1, 0, 0, 1, 1);
                frame.close();
                if (!isThisOne) return;
                const drawn = context.getImageData(0, 0, 1, 1).data[0] > 160;
                requestAnimationFrame(() => {
                  const { shown } = window.screenRelay.pointer;
                  const one = { rtpTimestamp, drawn, shown, heard: told.length };
                  // A page that has just come may show a picture before it has heard of the pointer.
                  if (presented.length > 0 || drawn || shown) presented.push(one);
                });
              };
              video.requestVideoFrameCallback(look);
            }, 1);
            """
        }

        /// The pictures with two pointers or none. Those shown before the page was told of their change are only
        /// counted: the host reports a change 50 ms ahead, and a busy machine may need longer.
        static let faults = """
            (() => {
              const isReached = (a, b) => ((a - b) | 0) >= 0;
              const isLate = (one) => told.findLastIndex((rtp) => isReached(one.rtpTimestamp, rtp)) >= one.heard;
              const wrong = presented.map((one, at) => ({ at, ...one })).filter((one) => one.drawn === one.shown);
              return { late: wrong.filter(isLate).length, wrong: JSON.stringify(wrong.filter((one) => !isLate(one))) };
            })()
            """

        @Test(
            "the page draws it while it is apart, and through each change there is one pointer: never two, never none",
            .timeLimit(.minutes(5)))
        func changes() throws {
            let room = try Room()
            try room.capture.move(x: 200, y: 120)
            try eventually("the host's wish") {
                try room.capture.hear()
                return room.capture.wanted == .apart ? () : nil
            }
            try room.send(2)
            let page = try room.browser.newPage("about:blank")
            try page.runBeforeLoad(Self.observer(x: 212, y: 132))
            try page.navigate(room.link)
            try room.send(until: "window.screenRelay?.pointer.shown", in: page)
            #expect(try page.evaluate("screenRelay.pointer.drawn").bool == false)
            #expect(try page.evaluate("screenRelay.pointer.x").int == 200)

            // The capture changes by itself, after runs of every length.
            var random = SeededRandom(seed: 9)
            for round in 0..<240 {
                // A busy machine shows few of the pictures.
                if round >= 24, try page.evaluate("presented.length").int ?? 0 >= 40 { break }
                try room.send(Int.random(in: 1...4, using: &random), drawn: round % 2 == 0)
            }
            try room.send(until: "screenRelay.pointer.shown && !screenRelay.pointer.changes", in: page)

            // The host asks for the change: a player comes, and leaves.
            let player = try WHEPPlayer(room.link, in: room.browser)
            #expect(try player.open()["status"].int == 201)
            try eventually("the host's wish") {
                try room.capture.hear()
                return room.capture.wanted == .drawn ? () : nil
            }
            try room.send(until: "screenRelay.pointer.drawn && !screenRelay.pointer.shown", in: page)
            #expect(try player.page.evaluate("window.leave()").int == 200)
            try room.send(until: "screenRelay.pointer.shown", in: page)
            #expect(room.capture.wanted == .apart)
            #expect(room.capture.flips >= 26)

            let looked = try page.evaluate("presented.length").int ?? 0
            #expect(looked >= 30)
            #expect((try page.evaluate("presented.filter((one) => one.drawn).length").int ?? 0) >= 8)
            let faults = try page.evaluate(Self.faults)
            #expect(faults["wrong"].string == "[]", "of \(looked) pictures")
            #expect((faults["late"].int ?? looked) * 4 < looked, "of \(looked) pictures")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "it stands where it stands on the shared screen, follows it, and goes with its source",
            .timeLimit(.minutes(5)))
        func place() throws {
            let room = try Room()
            try room.capture.move(x: 100, y: 60)
            try room.send(2)
            let page = try room.browser.newPage("about:blank")
            // The picture is shown at half its size, with bars at its sides.
            try page.setViewport(width: 500, height: 240)
            try page.navigate(room.link)
            try room.send(until: "window.screenRelay?.pointer.shown", in: page)
            try expectSquare(on: page, folder: room.folder, left: 90 + 50, top: 30, "at first")

            try room.capture.move(x: 300, y: 200)
            try room.send(until: "screenRelay.pointer.x === 300", in: page)
            try expectSquare(on: page, folder: room.folder, left: 90 + 150, top: 100, "when it has moved")
            let shapes = try page.evaluate("screenRelay.pointer.shapes").int

            // No part of the pointer is visible beyond the picture's edge.
            try room.capture.move(x: 630, y: 100)
            try room.send(until: "screenRelay.pointer.x === 630", in: page)
            let edge = try picture(of: page, folder: room.folder)
            #expect(brightness(edge, 90 + 317, 52) > 160)
            #expect(brightness(edge, 90 + 322, 52) < 60)

            try room.capture.move(x: 300, y: 200, isVisible: false)
            try room.send(until: "!screenRelay.pointer.shown", in: page)
            try room.capture.move(x: 300, y: 200)
            try room.send(until: "screenRelay.pointer.shown", in: page)
            #expect(try page.evaluate("screenRelay.pointer.shapes").int == shapes)
            room.capture.close()
            try page.waitUntil("!screenRelay.pointer.shown && !screenRelay.pointer.visible")
        }

        private func picture(of page: Page, folder: TemporaryFolder) throws -> ScenePicture {
            try page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            let file = try folder.write("page.png", try page.screenshot())
            return try #require(
                ScenePicture(bytes: try FFmpeg.decode(file).bytes, width: 500, height: 240))
        }

        private func brightness(_ picture: ScenePicture, _ x: Int, _ y: Int) -> Int {
            Int(picture.bytes[(y * picture.width + x) * 3])
        }

        /// Expects a bright square of 12 pixels a side at this place, and nothing bright around it.
        private func expectSquare(
            on page: Page, folder: TemporaryFolder, left: Int, top: Int, _ when: Comment,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            // The card that says that the page connects fades out over the first pictures.
            let shown = try eventually("nothing bright around the square \(when)") {
                let now = try picture(of: page, folder: folder)
                let around = [(-3, 5), (15, 5), (5, -3), (5, 15)]
                return around.allSatisfy { brightness(now, left + $0, top + $1) < 110 } ? now : nil
            }
            for (x, y) in [(2, 2), (9, 2), (2, 9), (9, 9)] {
                #expect(brightness(shown, left + x, top + y) > 160, when, sourceLocation: sourceLocation)
            }
        }
    }
}
