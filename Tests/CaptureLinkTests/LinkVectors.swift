import CaptureLink
import MediaTypes
import TestSupport

/// The examples in Protocol/vectors/capture-link and the samples that they are made of.
enum LinkVectors {
    static let epoch: UInt64 = 0x1122_3344_5566_7788
    static let time = MonotonicTime(nanoseconds: 12_345_678_901_234)

    static let sps =
        startCode + bytes(of: "67 42 c0 28 d9 00 78 02 27 e5 c0 5b 80 80 80 a0 00 00 03 00 20 00 00 07 81 e3 06 49")
    static let pps = startCode + bytes(of: "68 cb 83 cb 20")
    static let idr = startCode + bytes(of: "65 88 84 19 f1 08 8a a8 30 21 7e 02")
    static let slice1 = startCode + bytes(of: "41 9a 38 3b f9 e1 00 02 14 92 42 02")
    static let slice2 = startCode + bytes(of: "41 9a 54 0e e6 6f 82 01 18 01 a3 2b")
    static let slice3 = startCode + bytes(of: "41 9a 60 21 ca 5f c4 f0 c8 44 12 60")
    static let packet = startCode + bytes(of: "f4 ff fe")
    private static let startCode: [UInt8] = [0, 0, 0, 1]

    /// The control messages, each by the name of its vector, with the epoch and the time of its header.
    static let controlMessages: [(name: String, message: LinkMessage, epoch: UInt64, time: MonotonicTime?)] =
        [
            (
                "hello-capture",
                .hello(Hello(role: .capture, name: "screenrelay-capture 1.0", processID: 4242, makesKeyFrames: true)),
                epoch,
                nil
            ),
            (
                "hello-host", .hello(Hello(role: .host, name: "screenrelay 1.0", processID: 77, makesKeyFrames: false)),
                0,
                nil
            ),
            (
                "picture",
                .picture(
                    PictureNotice(
                        sequenceNumber: 7, damage: PixelRectangle(x: 16, y: 32, width: 640, height: 360),
                        isPointerDrawn: false, qp: 23, settling: .microseconds(1500),
                        waited: .microseconds(2600), worked: .microseconds(4100))),
                epoch, time
            ),
            ("format", .format(.h264), epoch, nil),
            ("size", .size(PictureSize(width: 1920, height: 1080)), epoch, nil),
            ("statistics", .statistics(statistics), epoch, nil),
            ("statistics-recent", .statistics(recentStatistics), epoch, nil),
            ("end", .end(EndNotice(reason: .displayLost, text: "the X server :0 went away")), epoch, nil),
            ("request-key-frame", .requestKeyFrame, 0, nil),
            ("bit-rate", .bitRate(BitRate(bitsPerSecond: 4_000_000)), 0, nil),
            ("carried", .carried(BitRate(bitsPerSecond: 12_000_000)), 0, nil),
            ("frame-rate", .frameRate(FrameRate(framesPerSecond: 30)), 0, nil),
            ("unwatched", .unwatched, 0, nil),
            ("watched", .watched, 0, nil),
            ("hello-abilities", .hello(ableHello), epoch, nil),
            ("pointer-position", .pointerPosition(PointerPosition(x: -3, y: 300, isVisible: true)), epoch, time),
            ("sharing", .sharing(.locked), epoch, nil),
            ("pointer-mode", .pointerMode(.drawn), 0, nil),
            ("sharer-paused", .sharerPaused(true), 0, nil),
            ("microphone-muted", .microphoneMuted(true), 0, nil),
            ("chroma", .chroma(.yuv444), 0, nil),
            ("ping", .ping(time), 0, nil),
            (
                "pong",
                .pong(
                    ClockEcho(
                        asked: time, received: MonotonicTime(nanoseconds: 77_000_000_000),
                        sent: MonotonicTime(nanoseconds: 77_000_250_000))), epoch, nil
            ),
            ("challenge", .challenge(nonce: Array(0..<32)), 0, nil),
            ("answer", .answer(nonce: Array(32..<64), code: captureCode), epoch, nil),
            ("proof", .proof(code: hostCode), 0, nil),
            ("sharpen", .sharpen, 0, nil),
            ("pointing", .pointing(point), 0, nil),
            ("pointing-none", .pointing(nil), 0, nil),
        ] + pointerShapes.map { ($0.name, .pointerShape($0.image), epoch, nil) }

    private static let point = ViewerPoint(
        viewer: 0x0102_0304, name: "Ann", place: ViewerPoint.Place(x: 0x7FFF, y: ViewerPoint.Place.limit),
        path: [nil, ViewerPoint.Place(x: 1, y: 2)])

    private static let ableHello = Hello(
        role: .capture, name: "screenrelay-capture 1.0", processID: 4242, makesKeyFrames: true, tellsPointer: true,
        changesChroma: true)

    private static let captureCode = bytes(of: "8bace35b5a2a56547c95f19d244c87adff80ee08cc575c01c7d325312e081e78")
    private static let hostCode = bytes(of: "ed51db6948ec685641fb6d17eef8076aa34fb12a1416c2cb3aecda08e9ff2b55")

    private static let pointerShapes: [(name: String, image: CursorImage)] = [
        (
            "pointer-shape",
            CursorImage(
                size: PictureSize(width: 3, height: 2), hotX: 1, hotY: -1,
                pixels: [0xFF00_0000, 0x8040_2010, 0, 0xFFFF_FFFF, 0x0101_0000, 0xFF00_00FF])
        ),
        ("pointer-none", CursorImage(size: PictureSize(width: 0, height: 0), hotX: 0, hotY: 0, pixels: [])),
    ].compactMap { name, image in image.map { (name, $0) } }

    private static let statistics: CaptureStatistics = {
        var statistics = CaptureStatistics()
        statistics.pictures = 1
        statistics.idrPictures = 2
        statistics.bytes = 3
        statistics.damageEvents = 4
        statistics.heldBack = 5
        statistics.grabNanoseconds = 6
        statistics.convertNanoseconds = 7
        statistics.encodeNanoseconds = 8
        statistics.residentBytes = 9
        return statistics
    }()

    private static let recentStatistics: CaptureStatistics = {
        var recent = RecentStatistics()
        recent.duration = 10
        recent.pictures = 11
        recent.bytes = 12
        recent.processorNanoseconds = 13
        recent.encodeMedianNanoseconds = 14
        recent.encodeP95Nanoseconds = 15
        recent.damagedMillionths = 16
        var all = statistics
        all.recent = recent
        return all
    }()

    /// The vectors that are whole streams, without errors.
    static let streams = [
        "access-unit", "sound", "legacy40", "legacy16", "unknown-kind", "longer-hello", "short-picture",
        "picture-untimed",
    ]
    /// The vectors that end in an error.
    static let broken = [
        "bad-marker", "bad-length", "bad-control-length", "bad-short", "bad-start-code", "bad-hello", "bad-size",
        "bad-pointer-side", "bad-pointer-pixels", "bad-position", "bad-pointer-mode", "bad-sharing",
        "bad-sharer-paused", "bad-format",
        "bad-chroma", "bad-ping", "bad-pong", "bad-challenge", "bad-answer", "bad-proof",
        "bad-pointing",
    ]
    /// The kinds whose payload can't be cut short without losing something.
    static let newKinds = [
        "pointer-shape", "pointer-none", "pointer-position", "sharing", "pointer-mode", "sharer-paused", "chroma",
        "ping",
        "pong", "challenge", "answer", "proof",
    ]
    /// All of them.
    static let all = controlMessages.map(\.name) + streams + broken

    /// The bytes of the vector `name`.
    static func bytes(_ name: String) throws -> [UInt8] {
        let file = try fileBytes(packageRoot + "/Protocol/vectors/capture-link/" + name + ".hex")
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return bytes(of: lines.joined())
    }

    private static func bytes(of text: some StringProtocol) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// All messages of `bytes`, given to a decoder in pieces of `piece` bytes, and the error at their end.
func decode(_ bytes: [UInt8], piece: Int = .max) -> (messages: [ReceivedMessage], error: LinkError?) {
    var decoder = MessageDecoder()
    var messages: [ReceivedMessage] = []
    var rest = bytes[...]
    do throws(LinkError) {
        while !rest.isEmpty {
            decoder.push(rest.prefix(piece))
            rest = rest.dropFirst(min(piece, rest.count))
            while let message = try decoder.next() { messages.append(message) }
        }
        return (messages, nil)
    } catch {
        return (messages, error)
    }
}

/// A message that holds one NAL unit, as a decoder would give it.
func nalUnit(
    _ payload: [UInt8], _ form: HeaderFormat = .extended, ends: Bool = false, time: MonotonicTime? = nil,
    epoch: UInt64 = 1
) -> ReceivedMessage {
    let header = MessageHeader(
        kindCode: 0, flags: ends ? .endOfFrame : [], length: UInt64(payload.count), captureTime: time,
        epoch: form == .extended ? epoch : 0)
    return ReceivedMessage(header: header, form: form, body: .unit(payload))
}
