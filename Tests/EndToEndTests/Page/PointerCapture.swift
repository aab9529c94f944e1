import CaptureLink
import MediaTypes
import TestSupport
import Testing
import X264Encoding

/// A capture that the test controls and that reports the pointer. Its picture is dark; if the pointer is drawn, it is a
/// bright square. The picture's left edge changes with each picture.
final class PointerCapture {
    static let size = PictureSize(width: 640, height: 480)
    /// The pointer's side in pixels; its hot spot is its top left corner.
    static let side = 24

    /// The last mode that the host has asked for; nil until it has asked for one.
    private(set) var wanted: PointerMode?
    /// Where the pointer is.
    private(set) var place = PointerPosition(x: 0, y: 0, isVisible: false)
    /// How often the pictures changed between having the pointer and not having it.
    private(set) var flips = 0

    private let socket: TestSocket
    private let messages = MessageEncoder(epoch: 77)
    private let encoder: X264Encoder
    private var decoder = MessageDecoder()
    private var count: UInt64 = 0
    private var needsIDR = true
    private var isDrawn: Bool?

    /// Connects to the host at `path` and says hello.
    init(path: String) throws {
        socket = try TestSocket(path: path)
        encoder = try X264Encoder(
            X264Configuration(
                size: Self.size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 4_000_000))))
        try send(
            .hello(Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true, tellsPointer: true)))
        try send(.size(Self.size))
        let pixels = [UInt32](repeating: 0xFFFF_FFFF, count: Self.side * Self.side)
        let size = PictureSize(width: Self.side, height: Self.side)
        try send(.pointerShape(try #require(CursorImage(size: size, hotX: 0, hotY: 0, pixels: pixels))))
    }

    /// Reports where the pointer is.
    func move(x: Int, y: Int, isVisible: Bool = true) throws {
        place = PointerPosition(x: x, y: y, isVisible: isVisible)
        try send(.pointerPosition(place))
    }

    /// Reads what the host wants, and sends the next picture; with the pointer as the host wants it, or as `drawn`
    /// says.
    func send(drawn: Bool? = nil) throws {
        try hear()
        let isDrawn = drawn ?? (wanted != .apart)
        if let last = self.isDrawn, last != isDrawn { flips += 1 }
        self.isDrawn = isDrawn
        let damage = PixelRectangle(x: 0, y: 0, width: Self.size.width, height: Self.size.height)
        try send(
            .picture(PictureNotice(sequenceNumber: count, damage: damage, isPointerDrawn: isDrawn)))
        let unit = try encoder.accessUnit(
            of: picture(isPointerDrawn: isDrawn), forceIDR: needsIDR, time: MediaTime(ticks: Int64(count) * 3000))
        needsIDR = false
        count += 1
        for outgoing in try messages.headers(for: unit) {
            try socket.send(outgoing.header + unit.bytes[outgoing.payload])
        }
    }

    /// Reads what the host has sent.
    func hear() throws {
        guard let bytes = socket.receive(), !bytes.isEmpty else { return }
        decoder.push(bytes)
        while let message = try decoder.next() {
            switch message.body {
            case .pointerMode(let mode): wanted = mode
            case .requestKeyFrame: needsIDR = true
            default: break
            }
        }
    }

    /// Closes the connection.
    func close() { socket.close() }

    private func send(_ message: LinkMessage) throws {
        try socket.send(messages.encode(message))
    }

    private func picture(isPointerDrawn: Bool) -> I420Picture {
        let (width, height) = (Self.size.width, Self.size.height)
        var bytes = [UInt8](repeating: 60, count: width * height)
        bytes += [UInt8](repeating: 128, count: width * height / 2)
        func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ luma: UInt8) {
            for row in rows.clamped(to: 0..<height) {
                for column in columns.clamped(to: 0..<width) { bytes[row * width + column] = luma }
            }
        }
        fill(0..<16, 0..<height, UInt8(60 + count % 8 * 20))
        if isPointerDrawn, place.isVisible {
            fill(place.x..<place.x + Self.side, place.y..<place.y + Self.side, 235)
        }
        return I420Picture(size: Self.size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: now())
    }
}
