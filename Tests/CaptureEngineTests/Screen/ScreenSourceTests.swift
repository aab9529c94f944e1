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
}
