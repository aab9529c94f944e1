import CaptureLink
import H264
import MediaTypes
import Processes
import TestSupport
import Testing

/// A capture played by the test. It says what it can do, and sends the same picture over and over, each time as an IDR,
/// in 4:4:4 or 4:2:0, encoded by FFmpeg.
///
/// It works only while somebody calls ``pump()``.
final class ChromaSender {
    /// Every second column is saturated red, the others black: colours that 4:2:0 can't keep apart.
    static let size = PictureSize(width: 320, height: 240)

    /// What the host asked for, in order.
    private(set) var formats: [ChromaFormat] = []
    /// The format that is sent now.
    private(set) var format = ChromaFormat.yuv444

    private let socket: TestSocket
    private let encoder = MessageEncoder(epoch: 7)
    private var decoder = MessageDecoder()
    private let units: [ChromaFormat: [CodedFrame]]
    private var count = 0
    private var isRunning = false
    private var sentAt = MonotonicTime.zero

    private static let period = Interval.milliseconds(100)

    /// Connects to the host at `path`.
    init(path: String, changesChroma: Bool) throws {
        units = [.yuv444: try Self.encoded(.yuv444), .yuv420: try Self.encoded(.yuv420)]
        socket = try TestSocket(path: path)
        try socket.send(
            encoder.encode(
                .hello(
                    Hello(
                        role: .capture, name: "chroma", processID: 1, makesKeyFrames: true, changesChroma: changesChroma
                    ))))
    }

    /// Reads what the host wants, and sends a picture if one is due.
    func pump() throws {
        guard let bytes = socket.receive() else { throw ProgramEnded(status: .exited(0), log: "the host closed") }
        decoder.push(bytes[...])
        while let message = try decoder.next() {
            switch message.body {
            case .watched: isRunning = true
            case .unwatched: isRunning = false
            case .chroma(let wanted):
                formats.append(wanted)
                format = wanted
                sentAt = .zero
            default: break
            }
        }
        guard isRunning, now() - sentAt >= Self.period, let choices = units[format], !choices.isEmpty else { return }
        sentAt = now()
        let unit = choices[count % choices.count]
        count += 1
        let stamped = unit.withCaptureTime(sentAt)
        for part in try encoder.headers(for: stamped) { try socket.send(part.header + unit.bytes[part.payload]) }
    }

    /// Closes the connection without an end message.
    func close() { socket.close() }

    /// Keeps sending until `condition` holds.
    func wait(for what: String, within limit: Interval = .seconds(90), _ condition: () throws -> Bool) throws {
        try eventually(
            what, within: limit,
            holds: {
                try pump()
                return try condition()
            })
    }

    /// IDR access units of the picture; two that follow each other have different `idr_pic_id`.
    private static func encoded(_ format: ChromaFormat) throws -> [CodedFrame] {
        var picture: [UInt8] = []
        for _ in 0..<size.height {
            for column in 0..<size.width { picture += column % 2 == 1 ? [255, 0, 0] : [0, 0, 0] }
        }
        let folder = try TemporaryFolder()
        let path = try folder.write("picture.rgb", picture + picture)
        let is444 = format == .yuv444
        let made = try FFmpeg.run([
            "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "\(size)", "-r", "10", "-i", path, "-vf",
            "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int", "-pix_fmt",
            is444 ? "yuv444p" : "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
            "-color_range", "tv", "-c:v", "libx264", "-profile:v", is444 ? "high444" : "baseline", "-preset",
            "ultrafast", "-tune", "zerolatency", "-qp", "4", "-g", "1", "-x264-params", "no-deblock=1:cabac=0", "-f",
            "h264", "pipe:1",
        ])
        var units: [[ArraySlice<UInt8>]] = []
        for range in AnnexB.nalUnits(in: made.bytes) {
            let nalUnit = made.bytes[range]
            guard let first = nalUnit.first else { continue }
            // Each begins with its SPS.
            if first & 0x1F == 7 { units.append([]) }
            if !units.isEmpty { units[units.count - 1].append(nalUnit) }
        }
        try #require(units.count == 2, "\(made.messages)")
        return units.map { nalUnits in
            var bytes: [UInt8] = []
            var ranges: [Range<Int>] = []
            for nalUnit in nalUnits {
                bytes += AnnexB.startCode + nalUnit
                ranges.append(bytes.count - nalUnit.count..<bytes.count)
            }
            return CodedFrame(h264: bytes, units: ranges, captureTime: nil)
        }
    }
}
