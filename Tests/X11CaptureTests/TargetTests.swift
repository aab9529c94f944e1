import CaptureEngine
import ColorConversion
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

@Suite("X11 capture of a part of the screen", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct PartTests {
    @Test("a region is cut to the screen, has coordinates of its own, and is black where the screen no longer is")
    func region() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.fill(TestScreen.all, color: 0xFF0000)
        var warnings: [String] = []
        let capture = try ScreenCapture(
            display: screen.name, target: .region(PixelRectangle(x: 300, y: 200, width: 500, height: 500)),
            drawsPointer: false, onWarning: { warnings.append($0) })
        #expect(warnings == ["the region is cut to the screen: 100x100+300+200 of 500x500+300+200 is shared"])
        #expect(capture.size == PictureSize(width: 100, height: 100))
        var picture = try GrabbedPicture(capture)
        #expect(picture.color(0, 0) == TestScreen.red && picture.color(99, 99) == TestScreen.red)
        client.fill(PixelRectangle(x: 290, y: 190, width: 20, height: 20), color: 0x00FF00)
        let area = try eventually("damage") { try someChanges(capture) }
        #expect(area.rectangles == [PixelRectangle(x: 0, y: 0, width: 10, height: 10)])
        try picture.update(capture, area)
        #expect(picture.color(9, 9) == TestScreen.green && picture.color(10, 10) == TestScreen.red)
        try screen.resize(to: PictureSize(width: 351, height: 251))
        try eventually("the news of it") {
            let isResized = try capture.readEvents()
            #expect(!isResized)
            return capture.needsFullGrab
        }
        client.fill(TestScreen.all, color: 0xFF0000)
        try picture.update(capture, capture.fetchDamage())
        #expect(
            picture.color(50, 50) == TestScreen.red && picture.color(51, 50) == TestScreen.black
                && picture.color(50, 51) == TestScreen.black)
        try screen.resize(to: PictureSize(width: 300, height: 200))
        try eventually("the wait") {
            _ = try capture.readEvents()
            return capture.isWaiting
        }
        try screen.resize(to: TestScreen.size)
        try eventually("its return") {
            _ = try capture.readEvents()
            return !capture.isWaiting
        }
        client.fill(TestScreen.all, color: 0x00FF00)
        #expect(try GrabbedPicture(capture).color(99, 99) == TestScreen.green)
    }

    @Test("a region outside of the screen is refused, however large its numbers are")
    func regionOutside() throws {
        let screen = try VirtualScreen(TestScreen.size)
        for region in [
            PixelRectangle(x: 400, y: 0, width: 10, height: 10), PixelRectangle(x: -10, y: 0, width: 10, height: 10),
            PixelRectangle(x: 0, y: 0, width: 0, height: 10), PixelRectangle(x: .max, y: 0, width: .max, height: 1),
            PixelRectangle(x: .min, y: .min, width: .min, height: .min),
        ] {
            #expect(throws: X11CaptureError.regionOutside(region, screen: TestScreen.size)) {
                try ScreenCapture(display: screen.name, target: .region(region))
            }
        }
    }

    @Test("a monitor is followed as it moves, changes its size, goes and comes back; one that isn't there is refused")
    func monitor() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.fill(TestScreen.all, color: 0xFF0000)
        client.fill(PixelRectangle(x: 200, y: 0, width: 200, height: 300), color: 0x0000FF)
        client.setMonitor("LEFT", PixelRectangle(x: 0, y: 0, width: 200, height: 300))
        let error = #expect(throws: X11CaptureError.self) {
            try ScreenCapture(display: screen.name, target: .monitor("RIGHT"))
        }
        #expect(error?.description.contains("LEFT") == true)
        let capture = try ScreenCapture(display: screen.name, target: .monitor("LEFT"), drawsPointer: false)
        #expect(capture.size == PictureSize(width: 200, height: 300))
        #expect(try GrabbedPicture(capture).color(199, 299) == TestScreen.red)
        // The same size elsewhere: no other size, but all pixels anew.
        client.setMonitor("LEFT", PixelRectangle(x: 200, y: 0, width: 200, height: 300))
        try eventually("the move") {
            let isResized = try capture.readEvents()
            #expect(!isResized)
            return capture.needsFullGrab
        }
        #expect(try GrabbedPicture(capture).color(0, 0) == TestScreen.blue)
        client.setMonitor("LEFT", PixelRectangle(x: 190, y: 10, width: 100, height: 50))
        try eventually("the new size") { try capture.readEvents() }
        #expect(capture.size == PictureSize(width: 100, height: 50))
        let picture = try GrabbedPicture(capture)
        #expect(picture.color(9, 0) == TestScreen.red && picture.color(10, 49) == TestScreen.blue)
        client.deleteMonitor("LEFT")
        try eventually("its end") {
            _ = try capture.readEvents()
            return capture.isWaiting
        }
        #expect(!capture.mayHaveChanged && capture.nextCheck < .distantFuture)
        #expect(try capture.fetchDamage().isEmpty && capture.fullDamage().isEmpty)
        client.setMonitor("LEFT", PixelRectangle(x: 0, y: 0, width: 100, height: 50))
        try eventually("its return") {
            _ = try capture.readEvents()
            return !capture.isWaiting
        }
        #expect(try GrabbedPicture(capture).color(0, 0) == TestScreen.red)
    }

    @Test("a monitor that is gone is waited for, for hours if need be, and so is the screen that has a region")
    func timeout() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let connection = try X11Connection(display: screen.name)
        client.setMonitor("LEFT", PixelRectangle(x: 0, y: 0, width: 200, height: 300))
        let monitor = try TrackedMonitor(connection, name: "LEFT")
        let corner = PixelRectangle(x: 350, y: 250, width: 50, height: 50)
        let region = try TrackedRegion(connection, region: corner)
        client.deleteMonitor("LEFT")
        try screen.resize(to: PictureSize(width: 300, height: 200))
        var time = now()
        for _ in 0..<3 {
            time = time + .seconds(3600)
            region.invalidate()
            try monitor.update(time)
            try region.update(time)
            #expect(monitor.place == nil && region.place == nil)
            #expect(monitor.size == PictureSize(width: 200, height: 300) && region.size == corner.size)
            #expect(monitor.nextCheck > time && region.nextCheck == .distantFuture)
        }
        client.setMonitor("LEFT", PixelRectangle(x: 0, y: 0, width: 100, height: 300))
        try screen.resize(to: TestScreen.size)
        region.invalidate()
        try monitor.update(time + .seconds(3600))
        try region.update(time)
        #expect(monitor.size == PictureSize(width: 100, height: 300) && region.place?.area == corner)
    }

    @Test("a monitor that is switched off is not taken for a name that is wrong")
    func monitorOff() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let name = try #require(try ScreenCapture.listing(display: screen.name).monitors.first).name
        #expect(try ScreenCapture(display: screen.name, target: .monitor(name)).size == TestScreen.size)
        // Turns the outputs off.
        try screen.resize(to: PictureSize(width: 300, height: 200))
        #expect(throws: X11CaptureError.monitorGone(name)) {
            try ScreenCapture(display: screen.name, target: .monitor(name))
        }
    }

    @Test("a listing names what there is, and makes titles harmless")
    func listing() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.setMonitor("DP-1", PixelRectangle(x: 10, y: 20, width: 100, height: 50), isPrimary: true)
        let area = PixelRectangle(x: 30, y: 40, width: 50, height: 60)
        let title = "an editor\u{1B}[2J" + String(repeating: "x", count: 300)
        let plain = client.window(area, color: 0, title: title, className: "Editor")
        let frame = client.window(PixelRectangle(x: 100, y: 100, width: 80, height: 80), color: 0)
        let framed = client.window(
            PixelRectangle(x: 2, y: 12, width: 70, height: 60), color: 0, title: "framed", parent: frame)
        client.numbers(framed, "WM_STATE", [1, 0])
        let iconified = client.window(area, color: 0, title: "an icon")
        client.numbers(iconified, "WM_STATE", [3, 0])
        client.unmap(iconified)
        // None of these is what a person would share.
        _ = client.window(
            PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: 0, title: "helper", className: "Editor")
        _ = client.window(area, color: 0, title: "never shown", className: "Editor", isMapped: false)
        _ = client.window(area, color: 0, title: "menu", className: "Editor", isOverrideRedirect: true)
        let withdrawn = client.window(area, color: 0, title: "withdrawn", isMapped: false)
        client.numbers(withdrawn, "WM_STATE", [0, 0])
        let listing = try ScreenCapture.listing(display: screen.name)
        #expect(listing.display == screen.name && listing.screen == TestScreen.size && listing.depth == 24)
        #expect(
            listing.monitors.contains(
                DisplayListing.Monitor(
                    name: "DP-1", area: PixelRectangle(x: 10, y: 20, width: 100, height: 50), isPrimary: true)))
        #expect(listing.windows.count == 3)
        let editor = try #require(listing.windows.first { $0.identifier == plain })
        #expect(editor.title.hasPrefix("an editor [2J") && editor.title.unicodeScalars.count == 200)
        #expect(editor.className == "Editor" && editor.area == area && editor.isViewable)
        #expect(listing.windows.first { $0.identifier == iconified }?.isViewable == false)
        let other = try #require(listing.windows.first { $0.identifier == framed })
        #expect(other.area == PixelRectangle(x: 102, y: 112, width: 70, height: 60) && other.isViewable)
        #expect(ScreenCapture.displays().contains(screen.name))
    }
}

/// What has changed now; nil where nothing has.
func someChanges(_ capture: ScreenCapture) throws -> DamagedArea? {
    _ = try capture.readEvents()
    let area = try capture.fetchDamage()
    return area.isEmpty ? nil : area
}
