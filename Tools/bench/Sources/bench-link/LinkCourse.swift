import CaptureLink
import Glibc
import LinkTransport
import Synchronization

/// Sends a number of bytes in messages of one size, in three ways. Each returns bytes a second, headers included.
struct LinkCourse {
    private let count: Int
    private let payload: [UInt8]
    /// The most bytes that the host reads at once.
    private static let readSize = 256 << 10

    init(messageSize: Int, bytes: Int) {
        payload = [0, 0, 0, 1, 0x41] + (5..<max(6, messageSize)).map { UInt8(truncatingIfNeeded: $0 &* 0x9D) | 1 }
        count = max(1, bytes / (payload.count + 40))
    }

    private var total: Int { count * (payload.count + 40) }

    /// Sends from `MessageEncoder` through `SocketConnection` to `MessageDecoder`, as capture and host do.
    func overLink(_ transport: Transport) throws -> Double {
        let ends = try transport.pair()
        let sending = Handover(SocketConnection(adopting: ends.sender))
        let receiving = SocketConnection(adopting: ends.receiver)
        let (count, payload) = (count, payload)
        let begin = seconds()
        let sender = try Thread {
            let encoder = MessageEncoder(epoch: 1)
            let connection = sending.value
            for _ in 0..<count {
                // Send as capture does: one picture at a time, and none until the last one is written.
                let header = try encoder.unitHeader(
                    payloadCount: payload.count, captureTime: nil, endsFrame: true)
                try payload.withUnsafeBytes {
                    try connection.enqueue(header: header, payload: $0)
                }
                while connection.hasPending {
                    wait(connection.descriptor, POLLOUT)
                    try connection.flush()
                }
            }
        }
        var decoder = MessageDecoder()
        var buffer = [UInt8](repeating: 0, count: Self.readSize)
        var messages = 0
        while messages < count {
            switch try receiving.receive(into: &buffer) {
            case .closed: throw BenchError(what: "the link ended after \(messages) messages")
            case .wouldBlock: wait(receiving.descriptor, POLLIN)
            case .bytes(let taken):
                decoder.push(buffer[..<taken])
                while let message = try decoder.next() {
                    guard case .unit(let bytes) = message.body, bytes.count == payload.count else {
                        throw BenchError(what: "another message came than was sent")
                    }
                    messages += 1
                }
            }
        }
        let rate = Double(total) / (seconds() - begin)
        try sender.join()
        return rate
    }

    /// Writes and reads the same bytes in the same pieces.
    func plain(_ transport: Transport) throws -> Double {
        let ends = try transport.pair()
        let (from, to) = (ends.sender.rawValue, ends.receiver.rawValue)
        for number in [from, to] { _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK) }
        let (count, message) = (count, [UInt8](repeating: 0x26, count: 40) + payload)
        let begin = seconds()
        let sender = try Thread {
            for _ in 0..<count {
                var written = 0
                while written < message.count {
                    let taken = message.withUnsafeBytes {
                        write(from, $0.baseAddress.map { $0 + written }, $0.count - written)
                    }
                    if taken <= 0 { throw BenchError(what: "write") }
                    written += taken
                }
            }
        }
        var buffer = [UInt8](repeating: 0, count: Self.readSize)
        var left = total
        while left > 0 {
            let taken = read(to, &buffer, buffer.count)
            if taken <= 0 { throw BenchError(what: "read") }
            left -= taken
        }
        let rate = Double(total) / (seconds() - begin)
        try sender.join()
        return rate
    }

    /// Runs only the decoder, on data that is already in memory, in the pieces that a socket would return.
    func decodedAlone() throws -> Double {
        let header = try MessageEncoder(epoch: 1).unitHeader(
            payloadCount: payload.count, captureTime: nil, endsFrame: true)
        var stream: [UInt8] = []
        let repeated = max(1, min(count, (32 << 20) / (payload.count + 40)))
        stream.reserveCapacity(repeated * (payload.count + 40))
        for _ in 0..<repeated {
            stream += header
            stream += payload
        }
        let rounds = max(1, count / repeated)
        let begin = seconds()
        var messages = 0
        var decoder = MessageDecoder()
        for _ in 0..<rounds {
            var at = 0
            while at < stream.count {
                let end = min(at + Self.readSize, stream.count)
                decoder.push(stream[at..<end])
                while try decoder.next() != nil { messages += 1 }
                at = end
            }
        }
        let time = seconds() - begin
        guard messages == rounds * repeated else { throw BenchError(what: "\(messages) messages came out") }
        return Double(rounds * stream.count) / time
    }
}

/// The reason why a measurement could not be made.
struct BenchError: Error, CustomStringConvertible {
    let what: String
    var description: String { "\(what) (\(String(cString: strerror(errno))))" }
}

/// The current time of CLOCK_MONOTONIC.
private func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func wait(_ descriptor: Int32, _ events: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    poll(&entry, 1, 1000)
}
