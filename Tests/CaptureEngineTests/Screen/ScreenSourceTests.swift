import CaptureEngine
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@Suite("capture of a screen of another display system", .serialized)
struct ScreenSourceTests {
    @Test("what it shows arrives, and why it is gone ends capture and reaches the host")
    func painted() throws {
        let paint = Paint()
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(paint)
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        for shade: UInt8 in [0, 255, 128] {
            paint.show(shade)
            // BT.601 with limited range.
            let luma = 16 + Int(shade) * 219 / 255
            try host.wait(for: "shade \(shade)") { host.picture.map { abs(Int($0.bytes[0]) - luma) <= 2 } == true }
        }
        #expect(capture.lines.contains("a painted screen"))
        paint.show(nil)
        try host.wait(for: "the reason") {
            host.messages.contains {
                guard case .end(let notice) = $0.body else { return false }
                return notice.reason == .displayLost && notice.text == "the paint is gone"
            }
        }
        let end = try eventually("the end") { capture.end }
        let error = #expect(throws: CaptureError.self) { try end.get() }
        #expect(error?.description == "the paint is gone")
    }

    @Test("a change that was painted as a whole needs no time to settle, and has waited since it was painted")
    func paintedAsWhole() throws {
        let paint = Paint()
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(paint, age: .milliseconds(700))
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        try host.wait(for: "a picture") { host.count >= 1 }
        let before = host.messages.count
        paint.show(255)
        var notice: PictureNotice?
        try host.wait(for: "the change") {
            for case .picture(let next) in host.messages[before...].map(\.body) where next.damage.width > 0 {
                notice = notice ?? next
            }
            return notice != nil
        }
        #expect(notice?.settling == .zero)
        // The picture's time is taken before the screen is looked at.
        #expect((notice?.waited ?? .zero) >= .milliseconds(690))
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }

    @Test("one that takes longer to look at than until the next picture still hears the host, and the signal to end")
    func slow() throws {
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let paint = Paint()
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(paint, reportsDamage: false)
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        try host.wait(for: "a picture") { host.count >= 1 }
        try host.send(.ping(now()))
        try host.wait(for: "the answer") {
            host.messages.contains { if case .pong = $0.body { true } else { false } }
        }
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }

    @Test("one whose pictures aren't needed is told so, and later, none is taken before it has a new one")
    func rests() throws {
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let paint = Paint()
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(paint, rests: true)
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        try host.wait(for: "a picture") { host.count >= 1 }
        #expect(paint.isNeeded)

        try host.send(.unwatched)
        try host.wait(for: "a rest while nobody watches") { !paint.isNeeded }
        try host.send(.watched)
        try host.wait(for: "the end of the rest") { paint.isNeeded }
        let count = host.count
        try host.read(for: .milliseconds(300))
        #expect(host.count == count)
        paint.show(200)
        try host.wait(for: "the new picture") { host.count > count }
        #expect(host.picture.map { abs(Int($0.bytes[0]) - (16 + 200 * 219 / 255)) <= 2 } == true)

        // Viewers see a notice, and the screen doesn't send what they don't see.
        try host.send(.sharerPaused(true))
        try host.wait(for: "a rest during the pause") { !paint.isNeeded }
        try host.wait(for: "the notice") {
            host.messages.contains { $0.body == .sharing(.paused) } && host.units.last?.frame.isRandomAccess == true
        }
        let paused = host.count
        try host.send(.sharerPaused(false))
        try host.wait(for: "the end of the pause") { paint.isNeeded }
        try host.read(for: .milliseconds(300))
        #expect(host.count == paused)
        paint.show(100)
        try host.wait(for: "the screen") { host.count > paused }
        #expect(host.picture.map { abs(Int($0.bytes[0]) - (16 + 100 * 219 / 255)) <= 2 } == true)
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }
}
