import CaptureEngine
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@Suite("windows that were visible a moment ago", .serialized)
struct PictureMemoryTests {
    @Test("come back in a few bytes and as they are painted now, even after a key frame")
    func returns() throws {
        let paint = Paint()
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(paint, size: Windows.size, grey: Windows.grey)
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        defer { capture.stop() }
        /// Shows a window, and returns the bytes until it is sharp.
        func show(_ window: UInt8, clock: UInt8) throws -> Int {
            let first = host.units.count
            let shade = clock * 4 + window
            paint.show(shade)
            let wanted = Windows.luma(shade)
            try host.wait(for: "window \(window), sharp") {
                guard let notice = host.units.last?.notice, let picture = host.picture else { return false }
                return host.units.count > first && !notice.isToBeRefined
                    && zip(picture.bytes, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 24 }
            }
            // It has to stand for a while to be worth keeping.
            try host.read(for: .milliseconds(300))
            return host.units[first...].reduce(0) { $0 + $1.frame.bytes.count }
        }
        let views = [try show(1, clock: 0), try show(2, clock: 0), try show(3, clock: 0)]
        // The clock went on while the windows were hidden.
        for (index, window) in ([1, 2, 3, 2, 1] as [UInt8]).enumerated() {
            let bytes = try show(window, clock: UInt8(index + 1))
            #expect(bytes * 20 < views[Int(window) - 1], "\(bytes) bytes for window \(window), \(views) at first")
        }
        // A key frame clears what decoders keep: the next view of a window is a new one.
        try host.send(.requestKeyFrame)
        let count = host.units.count
        try host.wait(for: "a key frame") { host.units[count...].contains { $0.frame.isRandomAccess } }
        let joined = host.units.lastIndex { $0.frame.isRandomAccess } ?? 0
        _ = try show(1, clock: 8)
        #expect(try show(2, clock: 9) * 2 > views[1])
        #expect(try show(1, clock: 9) * 20 < views[0])
        // Somebody who joined at the key frame sees the same.
        let folder = try TemporaryFolder()
        for (name, units) in [("all", host.units[...]), ("joined", host.units[joined...])] {
            let decoded = try FFmpeg.decode(
                folder.write(name + ".264", units.flatMap(\.frame.bytes)), to: "yuv420p", input: ["-f", "h264"])
            #expect(decoded.messages == "")
            #expect(decoded.bytes.suffix(host.picture?.bytes.count ?? 0) == (host.picture?.bytes ?? [])[...])
        }
    }
}

/// Windows of lines in grey over all of a screen, and a clock in the corner.
private enum Windows {
    static let size = PictureSize(width: 480, height: 272)

    static func grey(_ x: Int, _ y: Int, _ shade: UInt8) -> UInt8 {
        let (window, clock) = (Int(shade % 4), Int(shade / 4))
        if x < 16, y < 16 { return UInt8(20 + clock * 20) }
        return (x / 3 * 7 + y / 5 * 13 + x * y / 64 + window * 29) * (window + 2) % 11 < 4 ? 40 : 210
    }

    /// In BT.601 with limited range.
    static func luma(_ shade: UInt8) -> [UInt8] {
        (0..<size.width * size.height).map { index in
            UInt8(16 + Int(grey(index % size.width, index / size.width, shade)) * 219 / 255)
        }
    }
}
