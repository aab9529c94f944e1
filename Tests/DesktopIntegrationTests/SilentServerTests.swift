import CXCB
import Clocks
import Glibc
import MediaTypes
import TestSupport
import Testing
import Threading

@testable import DesktopIntegration

@Suite("An X server that hangs")
struct SilentServerTests {
    @Test("the keyboard isn't waited for beyond the deadline, and an ended connection isn't waited for at all")
    func silence() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        // All that the server ever says: that the connection is accepted (X11 protocol, connection setup), with the key
        // codes 8 to 255 and without a screen.
        var setup = [UInt8](repeating: 0, count: 40)
        (setup[0], setup[2], setup[6]) = (1, 11, 8)
        (setup[16], setup[17], setup[18]) = (0xFF, 0xFF, 0x1F)
        // Requests may have their usual length: libxcb would ask for more.
        (setup[26], setup[27]) = (0xFF, 0xFF)
        (setup[34], setup[35]) = (8, 255)
        let (server, answer) = (ends[1], setup)
        // libxcb takes what comes before it has asked for something else.
        let accepting = NamedThread("server") {
            var request = [UInt8](repeating: 0, count: 64)
            if read(server, &request, request.count) > 0 { _ = write(server, answer, answer.count) }
        }
        defer { accepting?.join() }
        let connection = try #require(xcb_connect_to_fd(ends[0], nil))
        defer { xcb_disconnect(connection) }
        try #require(xcb_connection_has_error(connection) == 0)
        let deadline = MonotonicTime.now() + .milliseconds(50)
        #expect(Keyboard(connection, until: deadline) == nil)
        #expect(MonotonicTime.now() >= deadline && xcb_connection_has_error(connection) == 0)
        close(ends[1])
        let begin = MonotonicTime.now()
        #expect(Keyboard(connection, until: begin + .seconds(600)) == nil)
        #expect(MonotonicTime.now() - begin < .seconds(300))
    }

    @Test("a server that accepts the pause key's connection and never answers isn't waited for any longer than 2 s")
    func noSetup() throws {
        let server = try RawServer()
        let chord = try #require(KeyChord("Pause"))
        let begin = MonotonicTime.now()
        #expect(throws: PauseKey.Problem.noAnswer) { _ = try PauseKey(chord, display: server.displayName) }
        #expect(MonotonicTime.now() - begin >= .seconds(2))
        #expect(server.hasNext)
    }
}
