import BrowserDriver
import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

private let red = SceneColor(255, 0, 0)
private let green = SceneColor(0, 255, 0)
private let blue = SceneColor(0, 0, 255)
private let black = SceneColor.black

extension EndToEndBesideBrowser {
    /// Only what was named is shared.
    @Suite("What is captured", .enabled(if: EndToEnd.isPossible))
    struct CaptureTargetTests {
        private static let size = PictureSize(width: 640, height: 480)
        private let screen: VirtualScreen
        private let client: DisplayClient

        init() throws {
            screen = try VirtualScreen(Self.size)
            client = try DisplayClient(screen.name)
            client.fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x0000FF)
        }

        private func fill(_ window: UInt32, _ width: Int, _ height: Int, _ color: UInt32) {
            client.fill(PixelRectangle(x: 0, y: 0, width: width, height: height), color: color, on: window)
        }

        @Test(
            "a window is followed as it moves and changes its size, gives way to a slate while unmapped, and ends capture",
            .timeLimit(.minutes(5)))
        func window() throws {
            let window = client.window(
                PixelRectangle(x: 20, y: 30, width: 300, height: 200), color: 0xFF0000, title: "the one")
            let capture = try LinkedCapture(screen, ["--window", "the one"])
            try capture.wait(for: red, at: 150, 100, "the window")
            #expect(capture.pictureSize == PictureSize(width: 300, height: 200))
            // The window is covered by another, and partly beyond the screen's edge.
            let cover = client.window(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x0000FF)
            client.move(window, to: -100, 60)
            fill(window, 300, 200, 0x00FF00)
            try capture.wait(for: green, at: 10, 100, "the moved window")
            #expect(capture.taken.count { $0.isIDR } == 1)
            client.resize(window, 351, 181)
            fill(window, 351, 181, 0xFF0000)
            try capture.wait(for: red, at: 349, 179, "the larger window")
            #expect(capture.pictureSize == PictureSize(width: 352, height: 182))
            #expect(capture.size == PictureSize(width: 351, height: 181))

            client.unmap(window)
            try capture.wait(for: "the slate") { try capture.sharing == .windowHidden && capture.showsSlate() }
            #expect(capture.pictureSize == PictureSize(width: 352, height: 182))
            client.map(window)
            fill(window, 351, 181, 0x00FF00)
            try capture.wait(for: green, at: 175, 90, "the window that is back")
            #expect(capture.sharing == .live)

            client.destroy(window)
            client.destroy(cover)
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .windowClosed)
            #expect(capture.end?.text.contains("'the one' has been closed") == true)
            #expect(capture.program.child.wait(within: .seconds(30)) == .exited(66))
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(capture.program.log.contains("screenrelay-capture: --window: window 0x"))
        }

        @Test("a monitor and a region show just themselves", .timeLimit(.minutes(5)))
        func parts() throws {
            client.fill(PixelRectangle(x: 100, y: 50, width: 200, height: 100), color: 0xFF0000)
            client.setMonitor("DP-7", PixelRectangle(x: 100, y: 50, width: 200, height: 100))
            for options in [["--monitor", "DP-7"], ["--region", "200x100+100+50"]] {
                let capture = try LinkedCapture(screen, options)
                try capture.wait(for: red, at: 100, 50, "\(options)")
                #expect(capture.pictureSize == PictureSize(width: 200, height: 100))
                let picture = try #require(try capture.picture())
                for (x, y) in [(0, 0), (199, 0), (0, 99), (199, 99)] {
                    #expect(picture.color(x, y)?.isClose(to: red) == true, "\(options) at \(x), \(y)")
                }
                #expect(capture.program.stop() == .exited(0))
            }
        }

        @Test("a hidden window's place is blank, wherever it goes", .timeLimit(.minutes(5)))
        func hidden() throws {
            // What programs draw on the root window isn't in pictures without hidden windows; its background is.
            client.background(0x0000FF)
            let window = client.window(
                PixelRectangle(x: 100, y: 100, width: 80, height: 60), color: 0xFF0000, title: "secret")
            let capture = try LinkedCapture(screen, ["--hide", "secret"])
            capture.onPicture = { capture in
                let picture = try #require(try capture.picture())
                for y in stride(from: 3, to: 480, by: 12) {
                    for x in stride(from: 3, to: 640, by: 12) where picture.color(x, y)?.isClose(to: red) == true {
                        Issue.record("something of the window at \(x), \(y) in picture \(capture.taken.count)")
                    }
                }
            }
            try capture.wait(for: black, at: 140, 130, "the blank place")
            for step in 1...20 {
                client.move(window, to: 100 + step * 15, 100 + step * 7)
                client.fill(PixelRectangle(x: 0, y: 0, width: 80, height: 60), color: 0xFF0000, on: window)
                try capture.read(for: .milliseconds(10))
            }
            try capture.wait(for: black, at: 440, 270, "the blank place, moved")
            try capture.wait(for: blue, at: 110, 110, "where it was")
        }

        @Test(
            "pictures are half as large where that is asked for, and odd and tiny sizes decode",
            arguments: [
                (["--scale", "50%"], PictureSize(width: 320, height: 240)),
                (["--scale", "100x480"], PictureSize(width: 100, height: 75)),
                (["--region", "17x3+5+6"], PictureSize(width: 17, height: 3)),
                (["--region", "2x2+638+478"], PictureSize(width: 2, height: 2)),
                (["--window", "tiny"], PictureSize(width: 1, height: 1)),
                (["--window", "tiny", "--chroma", "444"], PictureSize(width: 1, height: 1)),
                (["--region", "321x241+0+0", "--chroma", "444"], PictureSize(width: 321, height: 241)),
                (["--window", "thin", "--scale", "50%"], PictureSize(width: 250, height: 2)),
            ])
        func sizes(_ options: [String], _ expected: PictureSize) throws {
            let tiny = client.window(PixelRectangle(x: 600, y: 40, width: 1, height: 1), color: 0x0000FF, title: "tiny")
            let thin = client.window(
                PixelRectangle(x: 10, y: 10, width: 500, height: 3), color: 0x0000FF, title: "thin")
            // No name finds a window of one pixel, which programs use to talk to each other.
            let capture = try LinkedCapture(screen, options.map { $0 == "tiny" ? "0x\(String(tiny, radix: 16))" : $0 })
            // Don't look in the middle, where the server puts its pointer.
            let (x, y) = (expected.width / 4, expected.height / 4)
            try capture.wait(for: blue, at: x, y, "\(options)")
            #expect(capture.pictureSize == (options.contains("444") ? expected : expected.even))
            try capture.wait(for: "its size") { capture.size == expected }
            client.fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0xFF0000)
            fill(tiny, 1, 1, 0xFF0000)
            fill(thin, 500, 3, 0xFF0000)
            try capture.wait(for: red, at: x, y, "\(options), painted over")
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("a snapshot of an odd size has that size, and not the even one that 4:2:0 needs")
        func oddSnapshot() throws {
            client.fill(PixelRectangle(x: 320, y: 0, width: 1, height: 241), color: 0xFF0000)
            let share = try RunningProgram(
                "screenrelay",
                ["share", "--display", screen.name, "--region", "321x241+0+0"] + LinkSocket.hostOptions)
            let picture = try LinkSnapshot(of: share.printedLink()).picture
            #expect(picture.width == 321 && picture.height == 241)
            #expect(picture.meanColor(of: SceneRectangle(100, 100, 8, 8))?.isClose(to: blue) == true)
            // Half of its chroma is that of the column beside it.
            #expect((picture.meanColor(of: SceneRectangle(320, 20, 1, 200))?.red ?? 0) > 100)
        }

        @Test(
            "share says on the page that a window is off the screen, and ends when it is closed",
            .timeLimit(.minutes(5)),
            .enabled(if: EndToEnd.hasBrowser))
        func sharedWindow() throws {
            let window = client.window(
                PixelRectangle(x: 20, y: 30, width: 320, height: 200), color: 0xFF0000, title: "the one")
            let share = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--window", "the one"] + LinkSocket.hostOptions)
            let browser = try Browser.shared()
            let viewer = try ViewerPage(try share.printedLink(), in: browser)
            try viewer.waitUntilPlaying()
            func color() throws -> SceneColor? { try viewer.picture()?.meanColor(of: SceneRectangle(150, 100, 8, 8)) }
            try eventually("the window in the page") { try color()?.isClose(to: red) == true ? () : nil }
            client.unmap(window)
            try viewer.page.waitUntil("screenRelay.source === 'paused'")
            let words = try viewer.page.evaluate("document.getElementById('slate').innerText").string ?? ""
            #expect(words.contains("What is shared is not on the screen just now."), "\(words)")
            client.map(window)
            fill(window, 320, 200, 0x00FF00)
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try eventually("the window in the page again") { try color()?.isClose(to: green) == true ? () : nil }
            #expect(try viewer.reconnects() == 0)

            client.destroy(window)
            // Another window of that name must not be shared in its place.
            _ = client.window(PixelRectangle(x: 20, y: 30, width: 320, height: 200), color: 0x0000FF, title: "the one")
            #expect(share.child.wait(within: .seconds(30)) == .exited(66), "\(share.log)")
            share.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(share.log.contains("'the one' has been closed"))
            #expect(share.captureProcessIDs.count == 1)
            try viewer.page.waitUntil(
                "document.getElementById('card-title').textContent === 'Sharing has ended.'")
        }
    }
}

extension PictureSize {
    /// The size as encoded: 4:2:0 has one colour sample for two columns and two rows.
    var even: PictureSize { PictureSize(width: (width + 1) & ~1, height: (height + 1) & ~1) }
}
