import MediaTypes
import TestSupport
import Testing
import Threading
import TrackHub
import VideoDecoding

@testable import Ingest

@Suite("What the host knows of the pictures that viewers check")
struct PictureCheckTests {
    private let hub = TrackHub(origin: now())

    @Test("while a viewer checks, a key frame and one frame a second have the samples of what a decoder makes of them")
    func source() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource()))
        let pictures = try PlainPictures()
        let reader = hub.subscribe {}
        let start = now()
        func deliver(_ shade: UInt8, isKeyFrame: Bool = false, after milliseconds: Int64) throws -> TrackFrame {
            ingest.deliver(
                try pictures.next(shade: shade, isIDR: isKeyFrame), epoch: 1,
                arrival: start + .milliseconds(milliseconds))
            return try #require(reader.take().last)
        }
        #expect(try deliver(40, isKeyFrame: true, after: 0).coded.check == nil)
        hub.changeCheckingViewers(by: 1)
        hub.changeCheckingViewers(by: 1)
        var frames = [try deliver(50, isKeyFrame: true, after: 100)]
        #expect(try deliver(60, after: 600).coded.check == nil)
        frames.append(try deliver(70, after: 1200))
        hub.changeCheckingViewers(by: -1)
        frames.append(try deliver(80, isKeyFrame: true, after: 1300))
        for (frame, (shade, place)) in zip(frames, [(50, 0x80), (70, 13), (80, 0x81)]) {
            let check = try #require(frame.coded.check)
            let samples = try eventually("samples of \(shade)") { check.samples?.bytes }
            #expect(samples[0] == UInt8(place))
            #expect(samples[3...].allSatisfy { abs(Int($0) - shade) < 4 || abs(Int($0) - 128) < 4 })
        }
        hub.changeCheckingViewers(by: -1)
        #expect(try deliver(90, isKeyFrame: true, after: 3000).coded.check == nil)
    }

    @Test("frames of the low layer come with the samples of what a decoder makes of them")
    func low() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource()))
        // Its encoder's pictures are larger, up to the next whole macroblock.
        let pictures = try PlainPictures(size: PictureSize(width: 70, height: 46))
        let reader = hub.subscribe(to: .low) {}
        hub.changeCheckingViewers(by: 1)
        hub.report(BitRate(bitsPerSecond: 600_000), of: .low)
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        let frame = try eventually("the first picture of the low layer") { reader.take().first }
        let decoder = try H264Decoder()
        let picture = try #require(try decoder.decode(frame.coded).first)
        let samples = try #require(frame.coded.check?.samples)
        #expect(samples == PictureSamples(of: picture, at: SampleIndex(rawValue: 0)))
    }
}
