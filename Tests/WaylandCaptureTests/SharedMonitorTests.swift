import MediaTypes
import TestSupport
import Testing

@testable import WaylandCapture

@Suite("The monitor of a screen cast", .enabled(if: WaylandDesktop.isAvailable))
struct SharedMonitorTests {
    private static let stream = PortalStream(node: 0, position: PortalStream.Position(x: 0, y: 0), sourceType: .monitor)

    @Test("is gone once the compositor has removed it, until another one is added; the others don't matter")
    func removed() throws {
        let desktop = try WaylandDesktop([.screen, .second], size: PictureSize(width: 640, height: 480))
        let environment = desktop.environment
        try desktop.tell("plug")
        let monitor = try #require(SharedMonitor(of: Self.stream) { environment[$0] ?? nil })
        #expect(!monitor.hasJustChanged())

        // The other one is removed.
        try desktop.tell("monitor 0 1")
        #expect(!monitor.hasJustChanged())
        try desktop.tell("plug")
        #expect(!monitor.hasJustChanged() && !monitor.isGone && !monitor.hasSuccessor)

        try desktop.tell("unplug")
        #expect(monitor.hasJustChanged() && monitor.isGone && !monitor.hasSuccessor)
        try desktop.tell("plug")
        try eventually("a monitor") {
            monitor.process()
            return monitor.hasSuccessor
        }
    }

    @Test("has changed if it is rotated, and isn't gone")
    func rotated() throws {
        let desktop = try WaylandDesktop([.screen], size: PictureSize(width: 640, height: 480))
        let environment = desktop.environment
        let monitor = try #require(SharedMonitor(of: Self.stream) { environment[$0] ?? nil })
        try desktop.tell("monitor 1 1")
        #expect(monitor.hasJustChanged() && !monitor.isGone)
    }

    @Test("isn't known for a window or a new monitor, nor where no monitor is, nor without a compositor")
    func unknown() throws {
        let desktop = try WaylandDesktop([.screen], size: PictureSize(width: 640, height: 480))
        let environment = desktop.environment
        var stream = Self.stream
        stream.position = PortalStream.Position(x: 640, y: 0)
        #expect(SharedMonitor(of: stream) { environment[$0] ?? nil } == nil)
        stream = Self.stream
        for type in [PortalSourceTypes.window, .virtual] {
            stream.sourceType = type
            #expect(SharedMonitor(of: stream) { environment[$0] ?? nil } == nil)
        }
        #expect(SharedMonitor(of: Self.stream) { _ in nil } == nil)
        #expect(SharedMonitor(of: Self.stream) { environment[$0] ?? nil } != nil)
        try desktop.tell("end screen")
        #expect(SharedMonitor(of: Self.stream) { environment[$0] ?? nil } == nil)
    }
}
