import ByteCoding
import MediaTypes

/// The payloads of all messages but units of frames. All integers are little-endian.
///
///     hello           version u16 | role u8 | abilities u8 | process u32 | name: count u16, UTF-8
///                     abilities: bit 0 makes key frames, bit 1 tells the pointer, bit 2 changes chroma
///     format          codec u8
///     picture         sequence number u64 | x u16 | y u16 | width u16 | height u16
///                     then, from senders that have it: flags u8 | quantizer u8 | zero u16 | settling u32 microseconds
///                     flags: bit 0 the pointer is drawn
///                     then, from senders that have it: waited u32 | worked u32, both microseconds; 2^32-1 is unknown
///     size            width u16 | height u16
///     statistics      nine u64, in the order of `CaptureStatistics`
///                     then, from senders that have it: seven u64, in the order of `RecentStatistics`
///     end             reason u8 | zero u8 | text: count u16, UTF-8
///     pointerShape    width u16 | height u16 | hot x i16 | hot y i16 | width times height pixels u32
///     pointerPosition x i16 | y i16 | visible u8
///     sharing         state u8
///     pong            the ping's time i64 | when it came i64 | when this was sent i64
///     answer          nonce of 32 bytes | code of 32 bytes
///     challenge       nonce of 32 bytes
///     proof           code of 32 bytes
///     bitRate, carried  bits a second u64
///     frameRate       pictures in 1000 seconds u32
///     pointerMode     mode u8
///     sharerPaused, microphoneMuted  1 or 0 u8
///     chroma          format u8
///     ping            time i64
///     requestKeyFrame, unwatched, watched, sharpen: nothing
///
/// A payload may be longer than this: a later version appends fields, and an older one ignores them.
enum ControlPayload {
    static let nameLimit = 256
    static let textLimit = 1024

    static func encode(_ message: LinkMessage, into writer: inout ByteWriter) {
        switch message {
        case .unit(let bytes): writer.append(bytes)
        case .requestKeyFrame, .unwatched, .watched, .sharpen: break
        case .format(let codec): writer.uint8(codec.rawValue)
        case .bitRate(let rate), .carried(let rate): writer.uint64LittleEndian(UInt64(max(0, rate.bitsPerSecond)))
        case .frameRate(let rate): writer.uint32LittleEndian(rate.millihertz)
        case .hello(let hello):
            writer.uint16LittleEndian(hello.version)
            writer.uint8(hello.role.rawValue)
            writer.uint8(
                (hello.makesKeyFrames ? 1 : 0) | (hello.tellsPointer ? 2 : 0) | (hello.changesChroma ? 4 : 0))
            writer.uint32LittleEndian(hello.processID)
            encode(hello.name, limit: nameLimit, into: &writer)
        case .picture(let notice):
            writer.uint64LittleEndian(notice.sequenceNumber)
            for value in [notice.damage.x, notice.damage.y, notice.damage.width, notice.damage.height] {
                writer.uint16LittleEndian(UInt16(clamping: value))
            }
            writer.uint8((notice.isPointerDrawn ? 1 : 0) | (notice.isToBeRefined ? 2 : 0) | (notice.isOutdated ? 4 : 0))
            writer.uint8(notice.quantizer)
            writer.uint16LittleEndian(0)
            writer.uint32LittleEndian(UInt32(clamping: notice.settling.nanoseconds / 1000))
            for time in [notice.waited, notice.worked] {
                writer.uint32LittleEndian(time.map { UInt32(clamping: $0.nanoseconds / 1000) } ?? .max)
            }
        case .size(let size):
            writer.uint16LittleEndian(UInt16(clamping: size.width))
            writer.uint16LittleEndian(UInt16(clamping: size.height))
        case .statistics(let statistics):
            for field in CaptureStatistics.fields { writer.uint64LittleEndian(statistics[keyPath: field]) }
            guard let recent = statistics.recent else { break }
            for field in RecentStatistics.fields { writer.uint64LittleEndian(recent[keyPath: field]) }
        case .end(let notice):
            writer.uint8(notice.reason.rawValue)
            writer.uint8(0)
            encode(notice.text, limit: textLimit, into: &writer)
        case .pointerShape(let image):
            writer.uint16LittleEndian(UInt16(clamping: image.size.width))
            writer.uint16LittleEndian(UInt16(clamping: image.size.height))
            writer.int16LittleEndian(clamping: image.hotX)
            writer.int16LittleEndian(clamping: image.hotY)
            for pixel in image.pixels { writer.uint32LittleEndian(pixel) }
        case .pointerPosition(let position):
            writer.int16LittleEndian(clamping: position.x)
            writer.int16LittleEndian(clamping: position.y)
            writer.uint8(position.isVisible ? 1 : 0)
        case .sharing(let state): writer.uint8(state.rawValue)
        case .pointerMode(let mode): writer.uint8(mode.rawValue)
        case .sharerPaused(let isHeld): writer.uint8(isHeld ? 1 : 0)
        case .microphoneMuted(let isMuted): writer.uint8(isMuted ? 1 : 0)
        case .chroma(let format): writer.uint8(format.rawValue)
        case .ping(let time): encode(time, into: &writer)
        case .pong(let echo):
            for time in [echo.asked, echo.received, echo.sent] { encode(time, into: &writer) }
        case .answer(let nonce, let code):
            writer.append(nonce)
            writer.append(code)
        case .challenge(let bytes), .proof(let bytes): writer.append(bytes)
        }
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
            if let flags = reader.uint8(), let quantizer = reader.uint8(), reader.uint16LittleEndian() != nil,
                let settling = reader.uint32LittleEndian()
            {
                (notice.isPointerDrawn, notice.isToBeRefined) = (flags & 1 != 0, flags & 2 != 0)
                (notice.isOutdated, notice.quantizer) = (flags & 4 != 0, quantizer)
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
            guard let isHeld = reader.uint8() else { return tooShort }
            return .success(.sharerPaused(isHeld != 0))
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

    private static func encode(_ time: MonotonicTime, into writer: inout ByteWriter) {
        writer.uint64LittleEndian(UInt64(bitPattern: time.nanoseconds))
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
        let limit = PointerImage.longestSide
        guard width <= limit, height <= limit else { return .failure(Problem("a pointer of \(width)x\(height)")) }
        let count = Int(width) * Int(height)
        guard reader.count >= 4 * count else {
            return .failure(Problem("too few bytes for a pointer of \(width)x\(height)"))
        }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(count)
        while pixels.count < count, let pixel = reader.uint32LittleEndian() { pixels.append(pixel) }
        let size = PictureSize(width: Int(width), height: Int(height))
        guard let image = PointerImage(size: size, hotX: hotX, hotY: hotY, pixels: pixels) else {
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

    /// What is wrong with a payload, in words.
    struct Problem: Error {
        let words: String
        init(_ words: String) { self.words = words }
    }

    private static func encode(_ text: String, limit: Int, into writer: inout ByteWriter) {
        var bytes = Array(text.utf8.prefix(limit))
        // The cut must not leave half a character, so go back to the first byte of one.
        if text.utf8.count > limit {
            while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
            if let last = bytes.last, last & 0x80 != 0 { bytes.removeLast() }
        }
        writer.uint16LittleEndian(UInt16(clamping: bytes.count))
        writer.append(bytes)
    }

    private static func text(from reader: inout ByteReader) -> String? {
        guard let count = reader.uint16LittleEndian(), let bytes = reader.bytes(Int(count)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension CaptureStatistics {
    /// All fields, in the order of the wire format.
    static var fields: [WritableKeyPath<CaptureStatistics, UInt64>] {
        [
            \.pictures, \.idrPictures, \.bytes, \.damageEvents, \.heldBack, \.grabNanoseconds, \.convertNanoseconds,
            \.encodeNanoseconds, \.residentBytes,
        ]
    }
}

extension RecentStatistics {
    /// All fields, in the order of the wire format.
    static var fields: [WritableKeyPath<RecentStatistics, UInt64>] {
        [
            \.duration, \.pictures, \.bytes, \.processorNanoseconds, \.encodeMedianNanoseconds, \.encodeP95Nanoseconds,
            \.damagedMillionths,
        ]
    }
}

extension ByteWriter {
    fileprivate mutating func int16LittleEndian(clamping value: Int) {
        uint16LittleEndian(UInt16(bitPattern: Int16(clamping: value)))
    }
}

extension ByteReader {
    fileprivate mutating func int16LittleEndian() -> Int? {
        uint16LittleEndian().map { Int(Int16(bitPattern: $0)) }
    }
}
