import ByteCoding
import MediaTypes

/// The payloads of all messages but NAL units. All integers have their least significant byte first.
///
///     hello       version u16 | role u8 | abilities u8 (bit 0: makes IDR) | process u32 | name: count u16, UTF-8
///     picture     sequence number u64 | x u16 | y u16 | width u16 | height u16
///     size        width u16 | height u16
///     statistics  nine u64, in the order of `CaptureStatistics`
///     end         reason u8 | zero u8 | text: count u16, UTF-8
///     bitRate     bits a second u64
///     frameRate   pictures in 1000 seconds u32
///     requestIDR, pause, resume: nothing
///
/// A payload may be longer than that: a later version appends fields, and an older one ignores them.
enum ControlPayload {
    static let nameLimit = 256
    static let textLimit = 1024

    static func encode(_ message: LinkMessage, into writer: inout ByteWriter) {
        switch message {
        case .nalUnit(let bytes): writer.append(bytes)
        case .requestIDR, .pause, .resume: break
        case .bitRate(let rate): writer.uint64LittleEndian(UInt64(max(0, rate.bitsPerSecond)))
        case .frameRate(let rate): writer.uint32LittleEndian(rate.millihertz)
        case .hello(let hello):
            writer.uint16LittleEndian(hello.version)
            writer.uint8(hello.role.rawValue)
            writer.uint8(hello.canMakeIDR ? 1 : 0)
            writer.uint32LittleEndian(hello.processID)
            encode(hello.name, limit: nameLimit, into: &writer)
        case .picture(let notice):
            writer.uint64LittleEndian(notice.sequenceNumber)
            for value in [notice.damage.x, notice.damage.y, notice.damage.width, notice.damage.height] {
                writer.uint16LittleEndian(UInt16(clamping: value))
            }
        case .size(let size):
            writer.uint16LittleEndian(UInt16(clamping: size.width))
            writer.uint16LittleEndian(UInt16(clamping: size.height))
        case .statistics(let statistics):
            for field in CaptureStatistics.fields { writer.uint64LittleEndian(statistics[keyPath: field]) }
        case .end(let notice):
            writer.uint8(notice.reason.rawValue)
            writer.uint8(0)
            encode(notice.text, limit: textLimit, into: &writer)
        }
    }

    /// The message of `kind` whose payload is `bytes`; where they can't be one, what is wrong in words.
    static func decode(_ kind: MessageKind, _ bytes: [UInt8]) -> Result<LinkMessage, Problem> {
        var reader = ByteReader(bytes)
        let tooShort = Result<LinkMessage, Problem>.failure(Problem("\(bytes.count) bytes are too few"))
        switch kind {
        case .nalUnit: return .success(.nalUnit(bytes))
        case .requestIDR: return .success(.requestIDR)
        case .pause: return .success(.pause)
        case .resume: return .success(.resume)
        case .bitRate:
            guard let rate = reader.uint64LittleEndian() else { return tooShort }
            guard rate > 0, let rate = Int(exactly: rate) else { return .failure(Problem("a bit rate of \(rate)")) }
            return .success(.bitRate(BitRate(bitsPerSecond: rate)))
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
                        role: role, name: name, processID: process, canMakeIDR: abilities & 1 != 0, version: version)))
        case .picture:
            guard let number = reader.uint64LittleEndian(), let x = reader.uint16LittleEndian(),
                let y = reader.uint16LittleEndian(), let width = reader.uint16LittleEndian(),
                let height = reader.uint16LittleEndian()
            else { return tooShort }
            let damage = PixelRectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
            return .success(.picture(PictureNotice(sequenceNumber: number, damage: damage)))
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
            return .success(.statistics(statistics))
        case .end:
            guard let code = reader.uint8(), reader.uint8() != nil, let text = text(from: &reader) else {
                return tooShort
            }
            return .success(.end(EndNotice(reason: EndReason(rawValue: code) ?? .other, text: text)))
        }
    }

    /// What is wrong with a payload, in words.
    struct Problem: Error {
        let words: String
        init(_ words: String) { self.words = words }
    }

    private static func encode(_ text: String, limit: Int, into writer: inout ByteWriter) {
        var bytes = Array(text.utf8.prefix(limit))
        // What is cut off must not leave half a character: go back to the first byte of one.
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
    /// All fields in the order of the wire.
    static var fields: [WritableKeyPath<CaptureStatistics, UInt64>] {
        [
            \.pictures, \.idrPictures, \.bytes, \.damageEvents, \.heldBack, \.grabNanoseconds, \.convertNanoseconds,
            \.encodeNanoseconds, \.residentBytes,
        ]
    }
}
