import AudioCoding
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Processes
import TestSupport

/// The host's end of a link: keeps all that the capture of sound has sent.
final class ListeningHost {
    /// A packet of sound, without its start code.
    struct Packet {
        let time: MonotonicTime
        let bytes: [UInt8]
    }

    let connection: SocketConnection
    private(set) var messages: [ReceivedMessage] = []
    private(set) var packets: [Packet] = []
    private(set) var hasEnded = false
    private var decoder = MessageDecoder()
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)
    private let encoder = MessageEncoder(epoch: 0, stream: 1)

    init(_ connection: SocketConnection) {
        self.connection = connection
    }

    func send(_ message: LinkMessage) throws {
        try connection.enqueue(header: encoder.encode(message))
    }

    /// Says hello, and that somebody listens.
    func sendHello() throws {
        try send(.hello(Hello(role: .host, name: "test", processID: 1, makesKeyFrames: false)))
        try send(.watched)
    }

    /// Reads until `child` has ended. A host that doesn't read keeps the capture from writing.
    func read(untilEndOf child: ChildProcess) throws -> ProcessStatus? {
        var status: ProcessStatus?
        try wait(for: "the player's end") {
            status = child.poll()
            return status != nil
        }
        return status
    }

    /// Reads what has come.
    func read() throws {
        reading: while !hasEnded {
            switch try connection.receive(into: &buffer) {
            case .bytes(let count): decoder.push(buffer[..<count])
            case .wouldBlock: break reading
            case .closed: hasEnded = true
            }
            while let message = try decoder.next() {
                messages.append(message)
                guard case .unit(let bytes) = message.body, let time = message.header.captureTime else { continue }
                packets.append(Packet(time: time, bytes: Array(bytes.dropFirst(4))))
            }
        }
    }

    /// Reads until `condition` holds.
    func wait(for what: String, within limit: Interval = .seconds(90), _ condition: () throws -> Bool) throws {
        try eventually(
            what, within: limit,
            holds: {
                try read()
                return try condition()
            })
    }

    /// Reads for so long.
    func read(for time: Interval) throws {
        let end = now() + time
        while now() < end {
            try read()
            poll(nil, 0, 5)
        }
        try read()
    }

    /// How the packets from the one at `start` on follow each other: the distances of their times.
    func steps(from start: Int = 0) -> [Interval] {
        let times = packets.dropFirst(start).map(\.time)
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }

    /// The samples of one channel in the packets from the one at `start` on.
    func decoded(from start: Int, channelCount: Int) throws -> [Float] {
        let decoder = try OpusDecoder(channelCount: channelCount)
        var samples: [Float] = []
        for packet in packets.dropFirst(start) {
            let both = try decoder.decode(packet.bytes[...])
            samples += stride(from: 0, to: both.count, by: channelCount).map { both[$0] }
        }
        return samples
    }
}
