import CaptureLink
import H264
import Ingest
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import VideoDecoding

/// A source of both chroma formats that remembers what it was told, in order.
private final class TwoFormatSource: PictureSource {
    enum Word: Equatable {
        case chroma(ChromaFormat)
        case running(Bool)
    }

    let makesKeyFrames = true
    let changesChroma: Bool
    let words = Mutex<[Word]>([])

    init(changesChroma: Bool = true) {
        self.changesChroma = changesChroma
    }

    func setWatched(_ isRunning: Bool) { words.withLock { $0.append(.running(isRunning)) } }
    func setChroma(_ format: ChromaFormat) { words.withLock { $0.append(.chroma(format)) } }
    var all: [Word] { words.withLock { $0 } }
}

@Suite("The chroma format that a source is asked for")
struct ChromaTests {
    private let hub = TrackHub(origin: now())

    @Test("is 4:2:0 before the source is woken for a viewer that has no other, and 4:4:4 again after a while")
    func order() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = TwoFormatSource()
        #expect(ingest.attach(source))
        #expect(hub.source?.changesChroma == true)
        hub.viewerCame(decoding: .yuv420, now: now())
        #expect(source.all == [.running(false), .chroma(.yuv420), .running(true)])
        let left = now()
        hub.viewerLeft(decoding: .yuv420, now: left)
        hub.viewerCame(decoding: .yuv444, now: now())
        hub.pollChroma(now: left + .seconds(2))
        #expect(source.all.suffix(3) == [.running(false), .running(true), .chroma(.yuv444)])
    }

    @Test("is told to a source that comes later, and to nobody who has one format")
    func laterSource() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        hub.viewerCame(decoding: .yuv420, now: now())
        #expect(!hub.hasSource)
        let fixed = TwoFormatSource(changesChroma: false)
        #expect(ingest.attach(fixed))
        #expect(hub.source?.changesChroma == false)
        #expect(fixed.all == [.running(true)])
        ingest.detach(fixed, reason: "restarted")
        for _ in 0..<2 {
            let source = TwoFormatSource()
            #expect(ingest.attach(source))
            #expect(source.all == [.chroma(.yuv420), .running(true)])
            ingest.detach(source, reason: "restarted")
        }
    }

    @Test("goes over the link to a capture that said it can change, and to no other")
    func link() throws {
        let host = try LinkServerTests.Host()
        host.hub.viewerCame(decoding: .yuv420, now: now())
        let plain = try TestCapture(path: host.path)
        try plain.greet()
        try plain.wait(for: "resume") { $0.contains(.watched) }
        #expect(host.hub.excludes(viewerDecoding: .yuv420) == false)
        #expect(!plain.received.contains { $0.kind == .chroma })
        plain.connection.close()
        try host.waitForLog("capture is gone")
        let capture = try TestCapture(path: host.path)
        try capture.greet(changesChroma: true)
        try capture.wait(for: "4:2:0") { $0.contains(.chroma(.yuv420)) && $0.contains(.watched) }
        let order = capture.received.filter { $0.kind == .chroma || $0.kind == .watched }.map(\.kind)
        #expect(order == [.chroma, .watched])
        host.hub.viewerLeft(decoding: .yuv420, now: now() - .seconds(3))
        host.hub.pollChroma(now: now())
        try capture.wait(for: "4:4:4") { $0.contains(.chroma(.yuv444)) }
    }

    @Test(
        "a 4:4:4 stream goes out as it is, and snapshots and the host's own encoder make 4:2:0 of it",
        .enabled(if: FFmpeg.isAvailable))
    func stream() throws {
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=red:size=64x48:rate=5:duration=0.2", "-pix_fmt", "yuv444p", "-c:v", "libx264",
            "-profile:v", "high444", "-preset", "ultrafast", "-tune", "zerolatency", "-f", "h264", "pipe:1",
        ])
        let ranges = AnnexB.nalUnits(in: made.bytes)
        let unit = CodedFrame(h264: made.bytes, units: ranges, captureTime: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        let reader = hub.subscribe {}
        ingest.deliver(unit, epoch: 1, arrival: now())
        #expect(reader.take().map(\.format.chroma) == [.yuv444])
        #expect(hub.excludes(viewerDecoding: .yuv420))

        let pictures = Mutex<[I420Picture?]>([])
        ingest.snapshot(timeout: .seconds(5)) { picture in pictures.withLock { $0.append(picture) } }
        try eventually("a snapshot", holds: { pictures.withLock { !$0.isEmpty } })
        let picture = try #require(pictures.withLock { $0.first ?? nil })
        #expect(picture.size == PictureSize(width: 64, height: 48))
        // Red in BT.601: 81, 90, 240.
        #expect(abs(picture.shade - 81) <= 3)
        #expect(abs(Int(try #require(picture.bytes.last)) - 240) <= 3)

        // The source makes no IDR, so the host's encoder makes one of its picture, which every viewer can decode.
        hub.requestKeyFrame(now: now())
        var own: TrackFrame?
        try eventually("an IDR of the host's own") {
            own = reader.take().last ?? own
            return own != nil
        }
        #expect(own?.format.chroma == .yuv420)
        #expect(!hub.excludes(viewerDecoding: .yuv420))
    }
}
