import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import HostConnection

@Suite("what goes to the host")
struct OutgoingMessagesTests {
    private let time = MonotonicTime(nanoseconds: 5_000_000_000)
    private let notice = PictureNotice(
        sequenceNumber: 7, damage: PixelRectangle(x: 0, y: 0, width: 16, height: 16), qp: 20)

    @Test("a small picture is sent as its notice and its units, the last of which is marked as last")
    func smallPicture() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        let units: [[UInt8]] = [[0x67, 1, 2], [0x68, 3], [0x65, 4], [0x65, 5, 6]]
        try write(units, notice: notice, with: &outgoing, to: host)
        #expect(!host.connection.hasPending)
        try host.read()
        #expect(
            host.messages.map(\.body) == [
                .picture(notice), unit([0x67, 1, 2]), unit([0x68, 3]), unit([0x65, 4]), unit([0x65, 5, 6]),
            ])
        #expect(host.messages.map { $0.header.flags.contains(.endOfFrame) } == [false, false, false, false, true])
        #expect(host.messages.dropFirst().allSatisfy { $0.header.captureTime == time && $0.header.epoch == 3 })
        #expect(outgoing.bytesSent == UInt64(host.count))
    }

    @Test("a legacy host gets only the units")
    func legacy() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(form: .legacy40, epoch: 3))
        try write([[0x41, 9]], notice: nil, with: &outgoing, to: host)
        try host.read()
        #expect(host.messages.map(\.body) == [unit([0x41, 9])])
        #expect(host.messages.first?.form == .legacy40)
    }

    @Test("a large picture that the host takes a part of at a time arrives whole and unchanged")
    func partialWrites() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        var random = SeededRandom(seed: 1)
        // Gathered; too large to be gathered; behind that gathered again.
        let units = [70, 200_000, 3000, 66_000, 12].map { count in
            [0x41] + (1..<count).map { _ in UInt8.random(in: 1 ... .max, using: &random) }
        }
        try write(units, notice: notice, with: &outgoing, to: host)
        #expect(host.connection.hasPending)
        try host.drain(&outgoing, reading: 777)
        // Not in one expression: nobody wants to read so many bytes where it fails.
        let isUnchanged = host.messages.map(\.body) == [.picture(notice)] + units.map(unit)
        #expect(isUnchanged)
        #expect(outgoing.bytesSent == UInt64(host.count))
    }

    @Test("behind a picture on its way the latest message of each kind waits, and nothing more piles up")
    func latestOfEachKind() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        let first: [UInt8] = [0x41] + [UInt8](repeating: 1, count: 100_000)
        try write([first], notice: notice, with: &outgoing, to: host)
        let pending = host.connection.pendingBytes
        #expect(pending > 0)
        try outgoing.send(.sharing(.paused), on: host.connection)
        for x in 0..<1000 {
            let position = PointerPosition(x: x, y: 0, isVisible: true)
            try outgoing.send(.pointerPosition(position), on: host.connection)
        }
        #expect(host.connection.pendingBytes == pending)
        try host.drain(&outgoing)
        // Before the next picture.
        try write([[0x41, 2]], notice: nil, with: &outgoing, to: host)
        try host.drain(&outgoing)
        let last = PointerPosition(x: 999, y: 0, isVisible: true)
        #expect(
            host.messages.map(\.body) == [
                .picture(notice), unit(first), .sharing(.paused), .pointerPosition(last), unit([0x41, 2]),
            ])
    }

    @Test("a host that takes all is written to at once")
    func atOnce() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        for _ in 0..<3 { try outgoing.send(.sharing(.live), on: host.connection) }
        try outgoing.write([.sharing(.paused), .requestKeyFrame], to: host.connection)
        try host.read()
        let expected: [LinkMessage] = [
            .sharing(.live), .sharing(.live), .sharing(.live), .sharing(.paused), .requestKeyFrame,
        ]
        #expect(host.messages.map(\.body) == expected)
    }

    @Test("what waits is forgotten with the host; the last word is written behind the picture")
    func forgotten() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        let picture: [UInt8] = [0x41] + [UInt8](repeating: 1, count: 100_000)
        try write([picture], notice: nil, with: &outgoing, to: host)
        try outgoing.send(.sharing(.paused), on: host.connection)
        outgoing.forgetWaiting()
        let end = LinkMessage.end(EndNotice(reason: .stopped, text: "over"))
        try outgoing.write([end], to: host.connection)
        try host.drain(&outgoing)
        #expect(host.messages.map(\.body) == [unit(picture), end])
    }

    @Test("a host is idle from when it took something last, while something waits for it")
    func idle() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        #expect(outgoing.idle(on: host.connection) == nil)
        let before = now()
        try write([[0x41] + [UInt8](repeating: 1, count: 100_000)], notice: nil, with: &outgoing, to: host)
        let began = try #require(outgoing.idle(on: host.connection))
        #expect(began >= before)
        // It takes nothing: what comes meanwhile, or another try, doesn't change that.
        try outgoing.flush(host.connection, began + .seconds(1))
        try outgoing.write([.requestKeyFrame], to: host.connection)
        #expect(outgoing.idle(on: host.connection) == began)
        try host.read()
        try outgoing.flush(host.connection, began + .seconds(2))
        #expect(outgoing.idle(on: host.connection) == began + .seconds(2))
        try host.drain(&outgoing)
        #expect(outgoing.idle(on: host.connection) == nil)
    }

    @Test("a lost host and a unit that is too long are different errors")
    func failures() throws {
        let host = try SlowHost()
        var outgoing = OutgoingMessages(MessageEncoder(epoch: 3))
        let short = #expect(throws: SendingError.self) { try write([[]], notice: nil, with: &outgoing, to: host) }
        guard case .message(.unitTooShort)? = short else { throw short ?? SendingError.link(.closed) }
        // Nothing of it was written, nor is it in front of what comes next.
        try outgoing.write([.requestKeyFrame], to: host.connection)
        try host.read()
        #expect(host.messages.map(\.body) == [.requestKeyFrame])
        host.leave()
        // A moment later where a child of another test, which is just being started, has a copy of the socket.
        let gone = try eventually("the host's end") { () throws -> SendingError? in
            do {
                try write([[0x41, 1]], notice: nil, with: &outgoing, to: host)
                return nil
            } catch let error as SendingError {
                return error
            }
        }
        guard case .link(.closed) = gone else { throw gone }
    }

    /// As it arrives: behind a start code.
    private func unit(_ bytes: [UInt8]) -> LinkMessage {
        .unit([0, 0, 0, 1] + bytes)
    }

    private func write(
        _ units: [[UInt8]], notice: PictureNotice?, with outgoing: inout OutgoingMessages, to host: SlowHost
    ) throws {
        let memory = units.flatMap { $0 }
        try memory.withUnsafeBufferPointer { memory in
            var offset = 0
            let parts = units.map { unit in
                defer { offset += unit.count }
                return UnsafeBufferPointer(rebasing: memory[offset..<offset + unit.count])
            }
            try parts.withUnsafeBufferPointer { parts in
                let frame = OutgoingFrame(units: parts, captureTime: time)
                try outgoing.write(frame, notice: notice.map { .picture($0) }, to: host.connection)
            }
        }
    }
}

/// Capture's end of a link, and a host at the other that takes little at a time.
private final class SlowHost {
    let connection: SocketConnection
    private let socket: SocketConnection
    private var decoder = MessageDecoder()
    private(set) var messages: [ReceivedMessage] = []
    /// Bytes that it has read.
    private(set) var count = 0

    init() throws {
        let pair = try LinkSocketPair()
        connection = pair.connection
        var size: Int32 = 4608
        setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        socket = try SocketConnection.connect(to: .descriptor(fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)))
        pair.closeChild()
    }

    /// Reads what has come, in pieces of so many bytes.
    func read(pieces: Int = 4096) throws {
        var buffer = [UInt8](repeating: 0, count: pieces)
        while case .bytes(let count) = try socket.receive(into: &buffer) {
            self.count += count
            decoder.push(buffer[..<count])
            while let message = try decoder.next() { messages.append(message) }
        }
    }

    /// Reads all there is, while capture writes what waits.
    func drain(_ outgoing: inout OutgoingMessages, reading pieces: Int = 4096) throws {
        repeat {
            try read(pieces: pieces)
            try outgoing.flush(connection, now())
        } while connection.hasPending
        try read(pieces: pieces)
    }

    func leave() {
        socket.close()
    }
}
