import LinkTransport
import TestSupport
import Testing

@testable import WaylandCapture

@Suite("The compositor")
struct CompositorTests {
    @Test("answers while it is there", .enabled(if: WaylandDesktop.isAvailable))
    func answers() throws {
        let desktop = try WaylandDesktop([.screen])
        let environment = desktop.environment
        func check() throws(PortalError) { try Compositor.check { environment[$0] ?? nil } }
        try check()
        try desktop.tell("end screen")
        #expect(throws: PortalError.self) { try check() }
        try desktop.tell("start screen")
        try check()
    }

    @Test("isn't there without a socket, or with one at which nobody answers, and isn't looked for without a name")
    func missing() throws {
        try Compositor.check { _ in nil }
        let folder = try TemporaryFolder()
        let path = folder.file("wayland-0")
        func check(_ display: String) throws(PortalError) {
            try Compositor.check { ["WAYLAND_DISPLAY": display, "XDG_RUNTIME_DIR": folder.path][$0] }
        }
        #expect(throws: PortalError.noCompositor(path: path)) { try check("wayland-0") }
        #expect(throws: PortalError.noCompositor(path: path)) { try check(path) }
        let long = "/" + String(repeating: "a", count: 200)
        #expect(throws: PortalError.noCompositor(path: long)) { try check(long) }

        let server = try SocketListener(at: .unix(path: path))
        #expect(throws: PortalError.noCompositor(path: path)) { try check("wayland-0") }
        withExtendedLifetime(server) {}
    }

    @Test("needs PipeWire too, whose socket may be left over from one that has ended")
    func pipeWire() throws {
        try PipeWireSocket.check { _ in nil }
        let folder = try TemporaryFolder()
        let path = folder.file("pipewire-0")
        func check() throws(PortalError) {
            try PipeWireSocket.check { ["XDG_RUNTIME_DIR": folder.path][$0] }
        }
        #expect(throws: PortalError.noPipeWire(path: path)) { try check() }
        let server = try SocketListener(at: .unix(path: path))
        try check()
        withExtendedLifetime(server) {}
    }
}
