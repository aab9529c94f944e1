import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing
import VideoDecoding

/// The real `screenrelay-capture`, with the test as its host: everything that it writes is read, and every picture is
/// decoded.
///
/// It works only while somebody calls one of its methods. A picture that FFmpeg's decoder finds fault with is an error.
final class LinkedCapture {
    /// What is kept of each picture.
    struct Taken {
        let isIDR: Bool
        let byteCount: Int
        let profile: UInt8?
        let time: MonotonicTime
        let arrival: MonotonicTime
        let notice: PictureNotice
    }

    let program: RunningProgram
    private(set) var taken: [Taken] = []
    private(set) var hello: Hello?
    /// What it said last about each of these.
    private(set) var size: PictureSize?
    private(set) var sharing = SharingState.live
    private(set) var pointer: PointerPosition?
    private(set) var statistics: CaptureStatistics?
    private(set) var end: EndNotice?
    /// The pointer's shapes, in the order in which they have arrived.
    private(set) var shapes: [CursorImage] = []
    /// How many of these messages have arrived.
    private(set) var pointerMessages = 0
    private(set) var sharingMessages = 0
    /// Called with each picture after it has been decoded.
    var onPicture: ((LinkedCapture) throws -> Void)?

    private let folder: TemporaryFolder
    private let socket: TestSocket
    private let encoder = MessageEncoder(epoch: 0)
    private var decoder = MessageDecoder()
    private var assembler = FrameAssembler()
    private let video: H264Decoder
    private var isOver = false

    /// Starts it on `screen`, and says hello; `prefix` is a command that runs it. Over TCP, it connects to a socket
    /// that has the host's socket options.
    convenience init(
        _ screen: VirtualScreen, _ options: [String] = [], prefix: [String] = [], greets: Bool = true,
        isOverTCP: Bool = false
    ) throws {
        try self.init(
            source: ["--display", screen.name] + options, prefix: prefix, greets: greets, isOverTCP: isOverTCP)
    }

    /// Starts it with these options, in the same way.
    init(source options: [String], prefix: [String], greets: Bool = true, isOverTCP: Bool = false) throws {
        folder = try TemporaryFolder()
        let path = folder.file("s.sock")
        let address: String
        let accepted: () throws -> TestSocket
        if isOverTCP {
            let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
            address = "\(listener.address)"
            accepted = {
                let connection = try eventually("a connection") { try listener.accept() }
                return TestSocket(owning: fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 3))
            }
        } else {
            let listener = try TestSocket(listeningAt: path)
            address = "unix:" + path
            accepted = { try listener.accepted() }
        }
        program = try RunningProgram(
            "screenrelay-capture", ["--link", address, "--log", "debug"] + options, prefix: prefix)
        video = try H264Decoder()
        do { socket = try accepted() } catch {
            throw ProgramEnded(status: program.child.poll() ?? .exited(-1), log: program.log)
        }
        if greets {
            try send(.hello(Hello(role: .host, name: "test", processID: 0, makesKeyFrames: false)))
        }
    }

    deinit { program.stop() }

    var processID: Int32 { program.child.processID }

    func send(_ message: LinkMessage) throws { try socket.send(encoder.encode(message)) }

    /// Reads what has arrived; stops after a while if pictures come faster than they can be handled.
    func read() throws {
        let limit = now() + .milliseconds(100)
        while !isOver, now() < limit {
            guard let bytes = socket.receive() else {
                isOver = true
                return
            }
            if bytes.isEmpty { return }
            decoder.push(bytes)
            while let message = try decoder.next() { try take(message) }
        }
    }

    /// Reads until `condition` holds.
    func wait(for what: String, within limit: Interval = .seconds(90), _ condition: () throws -> Bool) throws {
        do {
            try eventually(what, within: limit) {
                try read()
                return try condition() ? () : nil
            }
        } catch let error as DeadlineMissed {
            Issue.record("\(error): \(program.log.suffix(4000))")
            throw error
        }
    }

    /// Reads for that long.
    func read(for time: Interval) throws {
        let deadline = now() + time
        while now() < deadline {
            try read()
            poll(nil, 0, 2)
        }
    }

    /// Reads until only keep-alives have come for 600 ms, so that everything is as fine as it gets.
    func settle(within limit: Interval = .seconds(90)) throws {
        try eventually("stillness", within: limit) {
            let before = taken.count
            try read(for: .milliseconds(600))
            return taken.count == before ? () : nil
        }
    }

    /// The last picture.
    func picture() throws -> I420Picture? { try video.lastPicture() }
    /// The size of the last picture.
    var pictureSize: PictureSize? { video.lastPictureSize }

    /// The colour of one pixel of the last picture; nil before the first picture, and beyond its edges.
    func color(_ x: Int, _ y: Int) throws -> SceneColor? { try picture()?.color(x, y) }

    /// Waits until that pixel has that colour, within 16 of 255 for each component.
    func wait(for color: SceneColor, at x: Int, _ y: Int, _ what: String) throws {
        try wait(for: "\(what): \(color) at \(x), \(y)") {
            guard let seen = try self.color(x, y) else { return false }
            return seen.isClose(to: color)
        }
    }

    /// Whether the last picture is a slate: grey, and the same at all corners.
    func showsSlate() throws -> Bool {
        guard let picture = try picture() else { return false }
        let (width, height) = (picture.size.width, picture.size.height)
        let corners = [0, width - 1, (height - 1) * width, height * width - 1].map { Int(picture.bytes[$0]) }
        let chroma = picture.bytes[picture.lumaCount...]
        return corners.allSatisfy { abs($0 - 52) < 6 } && chroma.allSatisfy { abs(Int($0) - 128) < 6 }
    }

    private func take(_ message: ReceivedMessage) throws {
        switch message.body {
        case .hello(let hello): self.hello = hello
        case .size(let size): self.size = size
        case .sharing(let state):
            sharing = state
            sharingMessages += 1
        case .pointerShape(let shape): shapes.append(shape)
        case .pointerPosition(let position):
            pointer = position
            pointerMessages += 1
        case .statistics(let statistics): self.statistics = statistics
        case .end(let notice): end = notice
        default: break
        }
        assembler.add(message, at: now())
        while let unit = assembler.next() {
            try video.decode(unit.frame, copying: false)
            let none = PictureNotice(
                sequenceNumber: 0, damage: PixelRectangle(x: 0, y: 0, width: 0, height: 0))
            taken.append(
                Taken(
                    isIDR: unit.frame.isRandomAccess, byteCount: unit.frame.bytes.count,
                    profile: unit.frame.profileIndicator, time: unit.frame.captureTime ?? .zero,
                    arrival: now(), notice: unit.notice ?? none))
            try onPicture?(self)
        }
    }
}

extension CodedFrame {
    /// `profile_idc` of its SPS (ITU-T H.264 section 7.3.2.1.1): 66 baseline, 244 High 4:4:4 Predictive; nil without
    /// one.
    fileprivate var profileIndicator: UInt8? {
        units.first { bytes[$0.lowerBound] & 31 == 7 && $0.count > 1 }.map { bytes[$0.lowerBound + 1] }
    }
}

extension I420Picture {
    /// The colour of one pixel; nil beyond the edges. The range is the limited one.
    func color(_ x: Int, _ y: Int) -> SceneColor? {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return nil }
        let luma = 1.164 * (Double(bytes[y * size.width + x]) - 16)
        let at = lumaCount + y / 2 * chromaWidth + x / 2
        let (blue, red) = (Double(bytes[at]) - 128, Double(bytes[at + chromaCount]) - 128)
        let parts =
            matrix == .bt709
            ? [luma + 1.793 * red, luma - 0.213 * blue - 0.533 * red, luma + 2.112 * blue]
            : [luma + 1.596 * red, luma - 0.392 * blue - 0.813 * red, luma + 2.017 * blue]
        let bytes = parts.map { UInt8(max(0, min(255, $0.rounded()))) }
        return SceneColor(bytes[0], bytes[1], bytes[2])
    }
}

extension SceneColor {
    /// Compares two colours, within 16 of 255 for each component.
    func isClose(to other: SceneColor) -> Bool {
        [(red, other.red), (green, other.green), (blue, other.blue)].allSatisfy { abs(Int($0.0) - Int($0.1)) <= 16 }
    }
}
