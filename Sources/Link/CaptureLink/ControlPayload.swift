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
///     pointing        viewer u32 | x u16 | y u16 | name: count u16, UTF-8 | steps u8 | each step: x u16, y u16
///                     x is 65535 without a place, and where another line begins; nothing at all: nobody points
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
        case .hello(let hello): encode(hello, into: &writer)
        case .picture(let notice): encode(notice, into: &writer)
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
        case .sharerPaused(let isPaused): writer.uint8(isPaused ? 1 : 0)
        case .microphoneMuted(let isMuted): writer.uint8(isMuted ? 1 : 0)
        case .chroma(let format): writer.uint8(format.rawValue)
        case .pointing(let point): if let point { encode(point, into: &writer) }
        case .ping(let time): encode(time, into: &writer)
        case .pong(let echo):
            for time in [echo.asked, echo.received, echo.sent] { encode(time, into: &writer) }
        case .answer(let nonce, let code):
            writer.append(nonce)
            writer.append(code)
        case .challenge(let bytes), .proof(let bytes): writer.append(bytes)
        }
    }

    private static func encode(_ hello: Hello, into writer: inout ByteWriter) {
        writer.uint16LittleEndian(hello.version)
        writer.uint8(hello.role.rawValue)
        writer.uint8((hello.makesKeyFrames ? 1 : 0) | (hello.tellsPointer ? 2 : 0) | (hello.changesChroma ? 4 : 0))
        writer.uint32LittleEndian(hello.processID)
        encode(hello.name, limit: nameLimit, into: &writer)
    }

    private static func encode(_ notice: PictureNotice, into writer: inout ByteWriter) {
        writer.uint64LittleEndian(notice.sequenceNumber)
        for value in [notice.damage.x, notice.damage.y, notice.damage.width, notice.damage.height] {
            writer.uint16LittleEndian(UInt16(clamping: value))
        }
        writer.uint8((notice.isPointerDrawn ? 1 : 0) | (notice.isToBeRefined ? 2 : 0) | (notice.isStale ? 4 : 0))
        writer.uint8(notice.qp)
        writer.uint16LittleEndian(0)
        writer.uint32LittleEndian(UInt32(clamping: notice.settling.nanoseconds / 1000))
        for time in [notice.waited, notice.worked] {
            writer.uint32LittleEndian(time.map { UInt32(clamping: $0.nanoseconds / 1000) } ?? .max)
        }
    }

    /// Stands for a place that there isn't.
    static let noPlace = UInt16.max

    private static func encode(_ place: ViewerPoint.Place?, into writer: inout ByteWriter) {
        writer.uint16LittleEndian(place?.x ?? noPlace)
        writer.uint16LittleEndian(place?.y ?? noPlace)
    }

    private static func encode(_ point: ViewerPoint, into writer: inout ByteWriter) {
        writer.uint32LittleEndian(point.viewer)
        encode(point.place, into: &writer)
        encode(point.name, limit: nameLimit, into: &writer)
        let path = point.path.prefix(Int(UInt8.max))
        writer.uint8(UInt8(clamping: path.count))
        for step in path { encode(step, into: &writer) }
    }

    private static func encode(_ time: MonotonicTime, into writer: inout ByteWriter) {
        writer.uint64LittleEndian(UInt64(bitPattern: time.nanoseconds))
    }

    private static func encode(_ text: String, limit: Int, into writer: inout ByteWriter) {
        var bytes = Array(text.utf8.prefix(limit + 1))
        // The cut must not leave half a character: what is cut off begins with the first byte of one.
        if bytes.count > limit {
            while bytes.removeLast() & 0xC0 == 0x80, !bytes.isEmpty {}
        }
        writer.uint16LittleEndian(UInt16(clamping: bytes.count))
        writer.append(bytes)
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
