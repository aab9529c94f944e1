import MediaTypes
import TestSupport
import Testing

@testable import X11Capture

@Suite("An X server that hangs")
struct SilentServerTests {
    @Test("accepting a connection and never answering is an error once the time is over")
    func silence() throws {
        let server = try RawServer()
        let (name, limit) = (server.displayName, Interval.milliseconds(50))
        #expect(throws: X11CaptureError.noAnswer(display: name, after: limit)) {
            try X11Connection(display: name, within: limit)
        }
        // The attempt goes on, and its late end changes nothing.
        try server.accept()
        server.endConnection()
        let screen = try VirtualScreen(PictureSize(width: 64, height: 64))
        #expect(try X11Connection(display: screen.name).rootDepth == 24)
    }
}
