import ByteCoding
import MediaTypes

/// The other direction: from the bytes of a payload to the message.
extension ControlPayload {
    /// What is wrong with a payload, in words.
    struct Problem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// Decodes the payload `bytes` of a message of `kind`. A failure says in words what is wrong with them.
    static func decode(_ kind: MessageKind, _ bytes: [UInt8]) -> Result<LinkMessage, Problem> {
        var reader = ByteReader(bytes)
        // Computed, so that the words are only made where they are needed.
        var tooShort: Result<LinkMessage, Problem> { .failure(Problem("\(bytes.count) bytes are too few")) }
        switch kind {
        case .unit: return .success(.unit(bytes))
        case .format: return code(from: &reader).map { .format($0) }
        case .requestKeyFrame: return .success(.requestKeyFrame)
        case .unwatched: return .success(.unwatched)
        case .watched: return .success(.watched)
        case .sharpen: return .success(.sharpen)
        case .bitRate:
            guard let rate = reader.uint64LittleEndian() else { return tooShort }
            guard rate > 0, let rate = Int(exactly: rate) else { return .failure(Problem("a bit rate of \(rate)")) }
            return .success(.bitRate(BitRate(bitsPerSecond: rate)))
        case .carried:
            guard let rate = reader.uint64LittleEndian() else { return tooShort }
            return .success(.carried(BitRate(bitsPerSecond: Int(clamping: rate))))
        case .frameRate:
            guard let rate = reader.uint32LittleEndian() else { return tooShort }
            guard rate > 0 else { return .failure(Problem("a frame rate of 0")) }
            return .success(.frameRate(FrameRate(millihertz: rate)))
        case .hello:
            guard let version = reader.uint16LittleEndian(), let roleCode = reader.uint8(),
                let abilities = reader.uint8(), let process = reader.uint32LittleEndian(),
                let name = text(from: &reader)
            else { return tooShort }
            guard let role = Hello.Role(rawValue: roleCode) else {
                return .failure(Problem("role \(roleCode) is neither capture (1), host (2) nor replay (3)"))
            }
            return .success(
                .hello(
                    Hello(
                        role: role, name: name, processID: process, makesKeyFrames: abilities & 1 != 0,
                        tellsPointer: abilities & 2 != 0, changesChroma: abilities & 4 != 0, version: version)))
        case .picture:
            guard let number = reader.uint64LittleEndian(), let x = reader.uint16LittleEndian(),
                let y = reader.uint16LittleEndian(), let width = reader.uint16LittleEndian(),
                let height = reader.uint16LittleEndian()
            else { return tooShort }
            let damage = PixelRectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
            var notice = PictureNotice(sequenceNumber: number, damage: damage)
            if let flags = reader.uint8(), let qp = reader.uint8(), reader.uint16LittleEndian() != nil,
                let settling = reader.uint32LittleEndian()
            {
                (notice.isPointerDrawn, notice.isToBeRefined) = (flags & 1 != 0, flags & 2 != 0)
                (notice.isStale, notice.qp) = (flags & 4 != 0, qp)
                notice.settling = .microseconds(Int64(settling))
                notice.waited = knownTime(from: &reader)
                notice.worked = knownTime(from: &reader)
            }
            return .success(.picture(notice))
        case .size:
            guard let width = reader.uint16LittleEndian(), let height = reader.uint16LittleEndian() else {
                return tooShort
            }
            guard width > 0, height > 0 else { return .failure(Problem("a picture of \(width)x\(height)")) }
            return .success(.size(PictureSize(width: Int(width), height: Int(height))))
        case .statistics:
            var statistics = CaptureStatistics()
            for field in CaptureStatistics.fields {
                guard let value = reader.uint64LittleEndian() else { return tooShort }
                statistics[keyPath: field] = value
            }
            statistics.recent = recent(from: &reader)
            return .success(.statistics(statistics))
        case .end:
            guard let code = reader.uint8(), reader.uint8() != nil, let text = text(from: &reader) else {
                return tooShort
            }
            return .success(.end(EndNotice(reason: EndReason(rawValue: code) ?? .other, text: text)))
        case .pointerShape: return pointerShape(from: &reader)
        case .pointerPosition:
            guard let x = reader.int16LittleEndian(), let y = reader.int16LittleEndian(), let visible = reader.uint8()
            else { return tooShort }
            return .success(.pointerPosition(PointerPosition(x: x, y: y, isVisible: visible != 0)))
        case .sharing: return code(from: &reader).map { .sharing($0) }
        case .pointerMode: return code(from: &reader).map { .pointerMode($0) }
        case .chroma: return code(from: &reader).map { .chroma($0) }
        case .sharerPaused:
            guard let isPaused = reader.uint8() else { return tooShort }
            return .success(.sharerPaused(isPaused != 0))
        case .microphoneMuted:
            guard let isMuted = reader.uint8() else { return tooShort }
            return .success(.microphoneMuted(isMuted != 0))
        case .ping: return time(from: &reader).map { .success(.ping($0)) } ?? tooShort
        case .pong:
            guard let asked = time(from: &reader), let received = time(from: &reader), let sent = time(from: &reader)
            else { return tooShort }
            return .success(.pong(ClockEcho(asked: asked, received: received, sent: sent)))
        case .answer:
            guard let nonce = reader.bytes(LinkProof.nonceCount), let code = reader.bytes(LinkProof.codeCount) else {
                return tooShort
            }
            return .success(.answer(nonce: Array(nonce), code: Array(code)))
        case .challenge:
            guard let nonce = reader.bytes(LinkProof.nonceCount) else { return tooShort }
            return .success(.challenge(nonce: Array(nonce)))
        case .proof:
            guard let code = reader.bytes(LinkProof.codeCount) else { return tooShort }
            return .success(.proof(code: Array(code)))
        }
    }

    private static func time(from reader: inout ByteReader) -> MonotonicTime? {
        reader.uint64LittleEndian().map { MonotonicTime(nanoseconds: Int64(bitPattern: $0)) }
    }

    private static func knownTime(from reader: inout ByteReader) -> Interval? {
        reader.uint32LittleEndian().flatMap { $0 == .max ? nil : .microseconds(Int64($0)) }
    }

    /// Reads all of the fields; nil if one is missing.
    private static func recent(from reader: inout ByteReader) -> RecentStatistics? {
        var recent = RecentStatistics()
        for field in RecentStatistics.fields {
            guard let value = reader.uint64LittleEndian() else { return nil }
            recent[keyPath: field] = value
        }
        return recent
    }

    private static func pointerShape(from reader: inout ByteReader) -> Result<LinkMessage, Problem> {
        guard let width = reader.uint16LittleEndian(), let height = reader.uint16LittleEndian(),
            let hotX = reader.int16LittleEndian(), let hotY = reader.int16LittleEndian()
        else { return .failure(Problem("too few bytes for a pointer")) }
        let limit = CursorImage.maxSide
        guard width <= limit, height <= limit else { return .failure(Problem("a pointer of \(width)x\(height)")) }
        let count = Int(width) * Int(height)
        guard reader.count >= 4 * count else {
            return .failure(Problem("too few bytes for a pointer of \(width)x\(height)"))
        }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(count)
        while pixels.count < count, let pixel = reader.uint32LittleEndian() { pixels.append(pixel) }
        let size = PictureSize(width: Int(width), height: Int(height))
        guard let image = CursorImage(size: size, hotX: hotX, hotY: hotY, pixels: pixels) else {
            return .failure(Problem("a pointer of \(size)"))
        }
        return .success(.pointerShape(image))
    }

    private static func code<Value: RawRepresentable>(
        from reader: inout ByteReader
    ) -> Result<Value, Problem> where Value.RawValue == UInt8 {
        guard let code = reader.uint8() else { return .failure(Problem("0 bytes are too few")) }
        guard let value = Value(rawValue: code) else { return .failure(Problem("\(code) has no meaning")) }
        return .success(value)
    }

    private static func text(from reader: inout ByteReader) -> String? {
        guard let count = reader.uint16LittleEndian(), let bytes = reader.bytes(Int(count)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ByteReader {
    fileprivate mutating func int16LittleEndian() -> Int? {
        uint16LittleEndian().map { Int(Int16(bitPattern: $0)) }
    }
}
