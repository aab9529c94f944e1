import H264
import MediaTypes
import ScreenRelayKit
import TestSupport
import Testing
import TrackHub

@testable import Pulling

@Suite("What is passed on of a publisher", .enabled(if: FFmpeg.isAvailable))
struct PublisherRelayTests {
    private let host: ScreenRelayHost
    private let lines = LoggedLines()
    /// 100 pictures of 176x144, of which every 25th is a key frame.
    private let small: [CodedFrame]

    init() throws {
        host = try ScreenRelayHost(HostConfiguration())
        small = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
    }

    private func makeRelay() -> PublisherRelay {
        PublisherRelay("a publisher", over: .rtmp, into: host.firstTrack, log: lines.log)
    }

    /// Passes on pictures that are decoded every 40 ms from `start` on, and shown `delay` later.
    private func take(
        _ frames: some Sequence<CodedFrame>, from start: Interval = .zero, shown delay: Interval = .zero,
        into relay: inout PublisherRelay
    ) {
        for (index, frame) in frames.enumerated() {
            let time = start + .milliseconds(40 * Int64(index))
            let refusal = relay.take(picture: frame, decoded: time, shown: time + delay)
            #expect(refusal == nil)
        }
    }

    @Test("begins with the first key frame")
    func firstKeyFrame() throws {
        defer { host.stop() }
        let reader = host.firstTrack.subscribe {}
        var relay = makeRelay()
        take(small[1..<25], into: &relay)
        #expect(host.firstTrack.sourceState == .waiting && host.firstTrack.publication == nil)
        take(small[25..<50], into: &relay)
        var received: [[UInt8]] = []
        try eventually("all from the key frame on") {
            received += reader.take().flatMap(\.coded.slices)
            return received.count >= 25
        }
        #expect(received == small[25..<50].flatMap(\.slices))
        relay.end(reason: "it was a test")
    }

    @Test("may have another size in the middle, which is reported")
    func otherSize() throws {
        defer { host.stop() }
        let pictures = try DecodedPictures(host.firstTrack)
        let other = try #require(TestStreams.intact.first { $0.name == "cropped.h264" })
        let cropped = AccessUnitBuilder.accessUnits(inAnnexB: try other.bytes())
        var relay = makeRelay()
        take(small[..<25], into: &relay)
        #expect(host.firstTrack.publication?.text == "H.264 of 176x144")
        take(cropped, from: .seconds(1), into: &relay)
        try eventually("all pictures") {
            try pictures.take()
            return pictures.count == 25 + cropped.count
        }
        #expect(pictures.size == PictureSize(width: 322, height: 182))
        #expect(host.firstTrack.publication?.text == "H.264 of 322x182")
        #expect(lines.count("a publisher sends H.264 of") == 2)
        relay.end(reason: "it was a test")
    }

    @Test("is encoded again from the key frame on at which B-frames begin")
    func laterBFrames() throws {
        defer { host.stop() }
        let pictures = try DecodedPictures(host.firstTrack)
        var relay = makeRelay()
        take(small[..<25], into: &relay)
        #expect(host.firstTrack.publication?.isReencoded == false)
        take(small[25...], from: .seconds(1), shown: .milliseconds(80), into: &relay)
        try eventually("pictures of both kinds") {
            try pictures.take()
            return pictures.count > 40
        }
        let text = "H.264 of 176x144 with B-frames, which is re-encoded"
        #expect(host.firstTrack.publication?.text == text && host.firstTrack.publication?.isReencoded == true)
        relay.end(reason: "it was a test")
    }

    @Test("loses no picture when its times jump by eight hours and run back")
    func jumps() throws {
        defer { host.stop() }
        let reader = host.firstTrack.subscribe {}
        var relay = makeRelay()
        // With sound, the times of pictures count.
        let refusal = relay.prepare(sound: AudioDescription(codec: "pcm_mulaw", rate: 8000, channelCount: 1))
        #expect(refusal == nil)
        let hours = Interval.seconds(8 * 3600)
        let starts = [Interval.zero, hours, .zero, hours + hours]
        for (index, start) in starts.enumerated() {
            for step in 0..<10 {
                let time = start + .milliseconds(40 * Int64(step))
                // As over RTSP, where only one of the times is known.
                let refusal = relay.take(picture: small[index * 10 + step], decoded: nil, shown: time)
                #expect(refusal == nil)
            }
        }
        var received: [TrackFrame] = []
        try eventually("all pictures") {
            received += reader.take()
            return received.count >= 40
        }
        #expect(received.flatMap(\.coded.slices) == small[..<40].flatMap(\.slices))
        #expect(zip(received, received.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(host.firstTrack.publication?.isReencoded == false)
        relay.end(reason: "it was a test")
    }
}
