import AudioCoding
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Threading

/// A source of sound at the other end of a track's link.
final class SoundSource {
    private let connection: SocketConnection
    private let messages = MessageEncoder(epoch: 7, stream: MessageHeader.soundStream)
    private let opus: OpusEncoder
    /// One second of a tone of 440 Hz, which are whole periods and 50 packets.
    private let samples = tone(440, seconds: 1)
    private var count = 0
    /// How long a packet is.
    static let step = Interval.milliseconds(20)

    /// Connects to the link at a path.
    init(_ path: String) throws {
        connection = try SocketConnection.connect(to: .unix(path: path))
        opus = try OpusEncoder(channelCount: 1, bitRate: BitRate(bitsPerSecond: 128_000))
        let hello = Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)
        try connection.enqueue(header: messages.encode(.hello(hello)))
    }

    /// Sends the next 20 ms of the tone, captured at `time`, and returns their packet.
    @discardableResult
    func send(at time: MonotonicTime) throws -> [UInt8] {
        let start = count % 50 * OpusEncoder.frameCount
        count += 1
        let packet = Array(try opus.encode(Array(samples[start..<start + OpusEncoder.frameCount])))
        try send(packet, at: time)
        return packet
    }

    /// Sends a packet.
    func send(_ packet: [UInt8], at time: MonotonicTime) throws {
        let frame = CodedFrame(
            bytes: [0, 0, 0, 1] + packet, units: [4..<packet.count + 4], isRandomAccess: true, captureTime: time,
            format: TrackFormat(codec: .opus))
        for unit in try messages.headers(for: frame) {
            try connection.enqueue(header: unit.header, payload: Array(frame.bytes[unit.payload]))
        }
        try eventually("the host to read", holds: { try connection.flush() })
    }
}

/// A tone of 440 Hz that a source of sound sends in real time, for as long as this lives.
final class RunningTone: Sendable {
    private let isStopped: Flag
    private let thread: NamedThread

    init(_ path: String) throws {
        let isStopped = Flag()
        let started = NamedThread("tone") {
            // What goes wrong shows in what isn't heard.
            try? RunningTone.run(path, until: isStopped)
        }
        guard let started else { throw DeadlineMissed(what: "a thread") }
        self.isStopped = isStopped
        thread = started
    }

    deinit {
        isStopped.set()
        thread.join()
    }

    private static func run(_ path: String, until isStopped: Flag) throws {
        let source = try SoundSource(path)
        var time = now()
        while !isStopped.isSet {
            // A packet can be sent when all of it has been captured.
            let left = time + SoundSource.step - now()
            if left > .zero { poll(nil, 0, Int32(clamping: left.milliseconds + 1)) }
            try source.send(at: time)
            time = time + SoundSource.step
        }
    }
}
