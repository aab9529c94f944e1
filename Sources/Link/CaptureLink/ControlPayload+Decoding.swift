import ByteCoding
import MediaTypes

/// The other direction: from the bytes of a payload to the message.
extension ControlPayload {
    /// What is wrong with a payload, in words.
    struct Problem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Decodes the payload `bytes` of a message of `kind`.
    static func decode(_ kind: MessageKind, _ bytes: [UInt8]) throws(Problem) -> LinkMessage {
        var reader = PayloadReader(bytes)
        switch kind {
        case .unit: return .unit(bytes)
        case .format: return .format(try reader.code())
        case .requestKeyFrame: return .requestKeyFrame
        case .unwatched: return .unwatched
        case .watched: return .watched
        case .sharpen: return .sharpen
        case .bitRate:
            let rate = try reader.uint64()
            guard rate > 0, let rate = Int(exactly: rate) else { throw Problem("a bit rate of \(rate)") }
            return .bitRate(BitRate(bitsPerSecond: rate))
        case .carried: return .carried(BitRate(bitsPerSecond: Int(clamping: try reader.uint64())))
        case .frameRate:
            let rate = try reader.uint32()
            guard rate > 0 else { throw Problem("a frame rate of 0") }
            return .frameRate(FrameRate(millihertz: rate))
        case .hello: return .hello(try hello(from: &reader))
        case .picture: return .picture(try picture(from: &reader))
        case .size:
            let (width, height) = (try reader.uint16(), try reader.uint16())
            guard width > 0, height > 0 else { throw Problem("a picture of \(width)x\(height)") }
            return .size(PictureSize(width: Int(width), height: Int(height)))
        case .statistics:
            var statistics = CaptureStatistics()
            var recent = RecentStatistics()
            try reader.read(CaptureStatistics.fields, into: &statistics)
            if (try? reader.read(RecentStatistics.fields, into: &recent)) != nil { statistics.recent = recent }
            return .statistics(statistics)
        case .end:
            let (code, _, text) = (try reader.uint8(), try reader.uint8(), try reader.text())
            return .end(EndNotice(reason: EndReason(rawValue: code) ?? .other, text: text))
        case .pointerShape: return .pointerShape(try pointerShape(from: &reader))
        case .pointerPosition:
            let (x, y, isVisible) = (try reader.int16(), try reader.int16(), try reader.flag())
            return .pointerPosition(PointerPosition(x: x, y: y, isVisible: isVisible))
        case .sharing: return .sharing(try reader.code())
        case .pointerMode: return .pointerMode(try reader.code())
        case .chroma: return .chroma(try reader.code())
        case .sharerPaused: return .sharerPaused(try reader.flag())
        case .microphoneMuted: return .microphoneMuted(try reader.flag())
        case .pointing: return .pointing(bytes.isEmpty ? nil : try viewerPoint(from: &reader))
        case .ping: return .ping(try reader.time())
        case .pong:
            let (asked, received, sent) = (try reader.time(), try reader.time(), try reader.time())
            return .pong(ClockEcho(asked: asked, received: received, sent: sent))
        case .answer:
            let (nonce, code) = (try reader.bytes(LinkProof.nonceCount), try reader.bytes(LinkProof.codeCount))
            return .answer(nonce: nonce, code: code)
        case .challenge: return .challenge(nonce: try reader.bytes(LinkProof.nonceCount))
        case .proof: return .proof(code: try reader.bytes(LinkProof.codeCount))
        }
    }

    private static func hello(from reader: inout PayloadReader) throws(Problem) -> Hello {
        let (version, code, abilities) = (try reader.uint16(), try reader.uint8(), try reader.uint8())
        let (process, name) = (try reader.uint32(), try reader.text())
        guard let role = Hello.Role(rawValue: code) else {
            throw Problem("role \(code) is neither capture (1), host (2) nor replay (3)")
        }
        return Hello(
            role: role, name: name, processID: process, makesKeyFrames: abilities & 1 != 0,
            tellsPointer: abilities & 2 != 0, changesChroma: abilities & 4 != 0, version: version)
    }

    private static func picture(from reader: inout PayloadReader) throws(Problem) -> PictureNotice {
        let (number, x, y) = (try reader.uint64(), try reader.uint16(), try reader.uint16())
        let (width, height) = (try reader.uint16(), try reader.uint16())
        let damage = PixelRectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
        var notice = PictureNotice(sequenceNumber: number, damage: damage)
        if let flags = try? reader.uint8(), let qp = try? reader.uint8(), (try? reader.uint16()) != nil,
            let settling = try? reader.uint32()
        {
            notice.isPointerDrawn = flags & 1 != 0
            notice.isToBeRefined = flags & 2 != 0
            notice.isStale = flags & 4 != 0
            notice.qp = qp
            notice.settling = .microseconds(Int64(settling))
            notice.waited = reader.knownTime()
            notice.worked = reader.knownTime()
        }
        return notice
    }

    private static func viewerPoint(from reader: inout PayloadReader) throws(Problem) -> ViewerPoint {
        let (viewer, place, name) = (try reader.uint32(), try reader.place(), try reader.text())
        var path: [ViewerPoint.Place?] = []
        for _ in 0..<(try reader.uint8()) { path.append(try reader.place()) }
        return ViewerPoint(viewer: viewer, name: name, place: place, path: path)
    }

    private static func pointerShape(from reader: inout PayloadReader) throws(Problem) -> CursorImage {
        let (width, height) = (try reader.uint16(), try reader.uint16())
        let (hotX, hotY) = (try reader.int16(), try reader.int16())
        let limit = CursorImage.maxSide
        guard width <= limit, height <= limit else { throw Problem("a pointer of \(width)x\(height)") }
        let count = Int(width) * Int(height)
        guard reader.count >= 4 * count else { throw Problem("too few bytes for a pointer of \(width)x\(height)") }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(count)
        for _ in 0..<count { pixels.append(try reader.uint32()) }
        let size = PictureSize(width: Int(width), height: Int(height))
        guard let image = CursorImage(size: size, hotX: hotX, hotY: hotY, pixels: pixels) else {
            throw Problem("a pointer of \(size)")
        }
        return image
    }
}

/// Reads the little-endian fields of a payload; each read past its end throws.
private struct PayloadReader {
    typealias Problem = ControlPayload.Problem

    private let byteCount: Int
    private var reader: ByteReader

    init(_ bytes: [UInt8]) {
        byteCount = bytes.count
        reader = ByteReader(bytes)
    }

    /// How many bytes are left.
    var count: Int { reader.count }

    mutating func uint8() throws(Problem) -> UInt8 { try next { $0.uint8() } }
    mutating func uint16() throws(Problem) -> UInt16 { try next { $0.uint16LittleEndian() } }
    mutating func uint32() throws(Problem) -> UInt32 { try next { $0.uint32LittleEndian() } }
    mutating func uint64() throws(Problem) -> UInt64 { try next { $0.uint64LittleEndian() } }
    mutating func int16() throws(Problem) -> Int { Int(Int16(bitPattern: try uint16())) }
    mutating func flag() throws(Problem) -> Bool { try uint8() != 0 }
    mutating func bytes(_ count: Int) throws(Problem) -> [UInt8] { Array(try next { $0.bytes(count) }) }
    mutating func text() throws(Problem) -> String {
        let count = try uint16()
        return String(decoding: try bytes(Int(count)), as: UTF8.self)
    }
    mutating func time() throws(Problem) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(bitPattern: try uint64()))
    }

    mutating func place() throws(Problem) -> ViewerPoint.Place? {
        let (x, y) = (try uint16(), try uint16())
        return x == ControlPayload.noPlace ? nil : ViewerPoint.Place(x: x, y: y)
    }

    /// A time in microseconds; nil if it is unknown or missing.
    mutating func knownTime() -> Interval? {
        reader.uint32LittleEndian().flatMap { $0 == .max ? nil : .microseconds(Int64($0)) }
    }

    mutating func code<Value: RawRepresentable>() throws(Problem) -> Value where Value.RawValue == UInt8 {
        let code = try uint8()
        guard let value = Value(rawValue: code) else { throw Problem("\(code) has no meaning") }
        return value
    }

    mutating func read<Value>(
        _ fields: [WritableKeyPath<Value, UInt64>], into value: inout Value
    ) throws(Problem) {
        for field in fields { value[keyPath: field] = try uint64() }
    }

    private mutating func next<Value>(_ read: (inout ByteReader) -> Value?) throws(Problem) -> Value {
        guard let value = read(&reader) else { throw Problem("\(byteCount) bytes are too few") }
        return value
    }
}
