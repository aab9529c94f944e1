import CLinux
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestScene
import TestSupport
import VideoDecoding

/// The host's end of a link: keeps all that capture has sent, and decodes it.
final class ReceivingHost {
    let connection: SocketConnection
    private(set) var messages: [ReceivedMessage] = []
    private(set) var units: [AssembledFrame] = []
    private(set) var hasEnded = false
    private var decoder = MessageDecoder()
    private var assembler = FrameAssembler()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private let video: H264Decoder
    private let encoder = MessageEncoder(epoch: 0)
    /// The last picture that could be decoded.
    private(set) var picture: I420Picture?

    init(_ connection: SocketConnection) throws {
        self.connection = connection
        video = try H264Decoder()
    }

    /// Reads what has come, or so many bytes of it, each by itself.
    func read(bytes limit: Int? = nil) throws {
        if limit != nil { buffer = [0] }
        defer { if limit != nil { buffer = [UInt8](repeating: 0, count: 1 << 16) } }
        var left = limit ?? .max
        reading: while !hasEnded, left > 0 {
            switch try connection.receive(into: &buffer) {
            case .bytes(let count):
                decoder.push(buffer[..<count])
                left -= count
            case .wouldBlock: break reading
            case .closed: hasEnded = true
            }
            while let message = try decoder.next() {
                messages.append(message)
                assembler.add(message, at: now())
                while let unit = assembler.next() {
                    units.append(unit)
                    picture = try video.decode(unit.frame).last ?? picture
                }
            }
        }
    }

    func send(_ message: LinkMessage) throws {
        try connection.enqueue(header: encoder.encode(message))
    }

    func sendHello() throws {
        try send(.hello(Hello(role: .host, name: "test", processID: 1, makesKeyFrames: false)))
    }

    /// Reads until `condition` holds.
    func wait(for what: String, within limit: Interval = .seconds(90), _ condition: () -> Bool) throws {
        try eventually(
            what, within: limit,
            holds: {
                try read()
                return condition()
            })
    }

    /// Reads for so long.
    func read(for time: Interval) throws {
        let end = now() + time
        while now() < end {
            try read()
            poll(nil, 0, 5)
        }
    }

    /// Reads until no picture has come for longer than those that only keep the stream alive are apart.
    func waitForSilence(of time: Interval = .milliseconds(300)) throws {
        try eventually("silence") {
            let before = count
            try read(for: time)
            // What came while this thread slept through the rest of the time is no silence.
            try read()
            return count == before ? () : nil
        }
    }

    /// What the patch scene's counter shows in the last picture.
    var counter: Int? {
        guard let picture else { return nil }
        let luma = Array(picture.bytes.prefix(picture.lumaCount))
        return PatchScene.counterValue(
            inRGB: luma, width: picture.size.width, height: picture.size.height, bytesPerPixel: 1)
    }

    /// All that was received, as FFmpeg reads it.
    var stream: [UInt8] { units.flatMap(\.frame.bytes) }

    /// Access units so far.
    var count: Int { units.count }

    func types(_ index: Int) -> [UInt8] {
        let unit = units[index].frame
        return unit.units.map { unit.bytes[$0.lowerBound] & 31 }
    }
}
