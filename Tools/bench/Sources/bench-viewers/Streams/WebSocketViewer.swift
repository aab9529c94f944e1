import MediaTypes
import PictureTimeline

/// A page that gets pictures over its WebSocket, one in each binary message, and confirms them (`Protocol/rooms.md`).
final class WebSocketViewer: StreamViewer {
    /// The time between two confirmations, at least.
    private static let interval = Interval.milliseconds(20)
    private static let pictureLimit: UInt64 = 64 << 20
    private static let headerCount = 16
    /// The flag of a message with sound.
    private static let isSound: UInt8 = 4

    /// The number of the last picture.
    private var last: UInt32 = 0
    /// The capture time of the last picture.
    private var lastTick: UInt32?
    /// The last number that was confirmed.
    private var confirmed: UInt32 = 0
    private var confirmedAt = MonotonicTime.zero

    /// The frames of a server (RFC 6455 section 5.2), which aren't masked. A ScreenRelay host doesn't fragment them.
    override func handle(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) throws(BenchFailure) -> Int {
        var start = 0
        while bytes.count - start >= 2 {
            let extended = bytes[start + 1] == 126 ? 2 : bytes[start + 1] == 127 ? 8 : 0
            let head = start + 2 + extended
            guard bytes.count >= head else { break }
            let coded = extended == 0 ? bytes[(start + 1)..<head] : bytes[(start + 2)..<head]
            let count = coded.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard bytes[start] & 0x80 != 0, count <= Self.pictureLimit else {
                throw BenchFailure("the server sends a fragment, or too long a message")
            }
            let end = head + Int(count)
            guard bytes.count >= end else { break }
            try handle(bytes[start] & 0x0F, UnsafeRawBufferPointer(rebasing: bytes[head..<end]), now: now)
            start = end
        }
        return start
    }

    private func handle(
        _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, now: MonotonicTime
    ) throws(BenchFailure) {
        switch opcode {
        case 0x1:
            let text = String(decoding: payload, as: UTF8.self)
            guard !text.contains("\"_refused\""), !text.contains("\"_session_ended\"") else {
                throw BenchFailure("the server says: \(text.prefix(200))")
            }
        case 0x2: receivePicture(payload, now: now)
        case 0x8: throw BenchFailure("the server has closed the WebSocket")
        case 0x9: send(ClientFrame.pong(Array(payload)))
        default: break
        }
    }

    private func receivePicture(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) {
        guard bytes.count > Self.headerCount, bytes[0] == 1, bytes[1] & Self.isSound == 0 else { return }
        counters.packets += 1
        counters.bytes += bytes.count
        let number = bytes.uint32(at: 4)
        guard number > last else {
            counters.duplicates += 1
            return
        }
        // The host has left out those between.
        counters.brokenPictures += Int(number - last) - 1
        last = number
        // The low half of the capture time, in microseconds, is the same for all viewers, and unique for an hour.
        let tick = bytes.uint32(at: 12)
        // A capture may be coded twice, the second time as a key frame. It is one picture.
        if tick != lastTick {
            notePicture(counts: table.noteWhole(table.place(of: tick), at: now), now: now)
        }
        lastTick = tick
        confirm(now: now)
    }

    override func advance(now: MonotonicTime) { confirm(now: now) }

    private func confirm(now: MonotonicTime) {
        guard last > confirmed, now - confirmedAt >= Self.interval, !isOver else { return }
        (confirmed, confirmedAt) = (last, now)
        counters.reports += 1
        send(ClientFrame.text("{\"eventName\":\"__frames_seen\",\"data\":{\"number\":\(last)}}"))
    }
}
