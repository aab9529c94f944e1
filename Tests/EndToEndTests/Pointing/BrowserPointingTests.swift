import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Viewers in two browsers, of whom one points at the picture.
    @Suite("Pointing", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPointingTests {
        private static let name = "<b>Ann</b>"

        @Test(
            "the dot of one page is seen on the other at its place, with the name as text, until pointing is forbidden",
            .timeLimit(.minutes(5)))
        func dot() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let ann = try ViewerPage.pointing(desktop.link, as: Self.name)
            let bob = try ViewerPage.pointing(desktop.link)
            #expect(try !bob.hasPart("pointing.js"))
            try ann.point("#video", 0.5, 0.5)
            #expect(try !ann.hasPart("pointing.js"))
            try ann.turnLaserOn()
            var delays: [Double] = []
            for step in 1...20 {
                let (x, y) = (Double(step) / 25, 1 - Double(step) / 40)
                try ann.point("#video", x, y)
                try bob.page.waitUntil("isDotAt('#video', \(x), \(y))")
                let (moved, seen) = (try ann.page.evaluate("movedAt"), try bob.page.evaluate("seenAt"))
                delays.append((seen.number ?? 0) - (moved.number ?? 0))
            }
            delays.sort()
            print("a dot is seen on another page after \(delays[10]) ms (median), \(delays[19]) ms at most")
            #expect(try ann.page.evaluate("isDotAt('#video', 0.8, 0.5)") == true)
            let text = "document.querySelector('.laser-dot span')"
            #expect(try bob.page.evaluate("\(text).textContent").string == Self.name)
            #expect(try bob.page.evaluate("document.querySelector('.laser-dot b') === null") == true)
            #expect(try ann.page.evaluate("\(text).checkVisibility()") == false)

            // Zoomed in, it stays at its place of the picture, here beside the window's middle.
            try bob.page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))")
            try ann.point("#video", 0.55, 0.55)
            try bob.page.waitUntil("screenRelay.mode === 'zoom' && isDotAt('#video', 0.55, 0.55)")
            // Outside the picture there is none, and a finger points, too.
            try ann.point("#status", 0.5, 0.5)
            try bob.page.waitUntil("document.querySelector('.laser-dot') === null")
            try ann.touch("touchStart", 0.4, 0.5)
            try ann.touch("touchMove", 0.5, 0.55)
            try bob.page.waitUntil("isDotAt('#video', 0.5, 0.55)")
            try ann.touch("touchEnd")
            try bob.page.waitUntil("document.querySelector('.laser-dot') === null")

            try ann.point("#video", 0.5, 0.5)
            try bob.page.waitUntil("isDotAt('#video', 0.5, 0.5)")
            let process = ["--pid", "\(desktop.host.child.processID)"]
            var run = try CommandLineRun(["screenrelay", "pointing", "off"] + process)
            #expect(run.status == .exited(0) && run.output == "pointing off\n")
            try bob.page.waitUntil("document.querySelector('.laser-dot') === null")
            try ann.page.waitUntil("\(ViewerPage.laser).hidden && document.querySelector('.laser-dot') === null")
            #expect(try CommandLineRun(["screenrelay", "status"] + process).output.contains("; pointing off"))
            try ann.pressLetter("l")
            #expect(try ann.page.evaluate("\(ViewerPage.laser).getAttribute('aria-pressed')").string == "false")
            run = try CommandLineRun(["screenrelay", "pointing", "on"] + process)
            #expect(run.status == .exited(0) && run.output == "pointing on\n")
            try ann.turnLaserOn()
            try ann.point("#video", 0.25, 0.5)
            try bob.page.waitUntil("isDotAt('#video', 0.25, 0.5)")
            try ann.pressLetter("l")
            try bob.page.waitUntil("document.querySelector('.laser-dot') === null")

            // A viewer without a name is asked for it.
            try bob.pressLetter("l")
            try bob.page.waitUntil("document.getElementById('own-name')?.checkVisibility()")
            #expect(try bob.page.evaluate("\(ViewerPage.laser).getAttribute('aria-pressed')").string != "true")
            for page in [ann.page, bob.page] { #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)") }
        }

        @Test(
            "with tracks side by side, a dot on the second one is seen on that track, small or large",
            .timeLimit(.minutes(5)))
        func secondTrack() throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("second.sock")
            let desktop = try SharedDesktop(
                apart: .hostFirst, scene: ["--fps", "10"], hostOptions: ["--track", "second=\(address)"])
            let screen = try VirtualScreen(PictureSize(width: 800, height: 600))
            let scene = try RunningProgram(
                "screenrelay-scene", ["--display", screen.name, "--scene", "patches", "--fps", "10"])
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", address, "--display", screen.name])
            defer {
                for program in [capture, scene] { program.stop() }
                screen.close()
            }
            let ann = try ViewerPage.pointing(desktop.link, as: "Ann")
            let bob = try ViewerPage.pointing(desktop.link)
            let small = "#tracks li:nth-child(2) video"
            for viewer in [ann, bob] {
                try viewer.page.waitUntil("document.querySelector('\(small)')?.videoWidth === 800")
            }
            try ann.pressLetter("b")
            try ann.page.waitUntil("document.querySelector('\(small)').clientWidth > 200")
            try ann.turnLaserOn()
            try ann.point(small, 0.25, 0.5)
            try bob.page.waitUntil("isDotAt('\(small)', 0.25, 0.5)")
            #expect(try ann.page.evaluate("isDotAt('\(small)', 0.25, 0.5)") == true)
            #expect(try bob.page.evaluate("document.querySelector('#picture .laser-dot') === null") == true)
            // A line over it doesn't choose its track, as a click does.
            try eventually(
                "a line over the small picture",
                holds: {
                    try ann.draw(small, from: (0.25, 0.25), to: (0.75, 0.5))
                    return try bob.showsLine(small, from: (0.25, 0.25), to: (0.75, 0.5))
                })
            #expect(try bob.page.evaluate("document.querySelector('#picture .laser-lines') === null") == true)
            #expect(try ann.page.evaluate("screenRelay.videoWidth").int == 640)
            try bob.pressLetter("t")
            try bob.page.waitUntil("screenRelay.videoWidth === 800")
            try bob.page.waitUntil("document.querySelector('#tracks li:nth-child(1) video').videoWidth === 640")
            try ann.point(small, 0.75, 0.5)
            try bob.page.waitUntil("isDotAt('#video', 0.75, 0.5)")
            try ann.point("#video", 0.5, 0.25)
            try bob.page.waitUntil("isDotAt('#tracks li:nth-child(1) video', 0.5, 0.25)")
            for page in [ann.page, bob.page] { #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)") }
        }
    }
}
