import H264
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import TrackHub

private func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

@Suite("Which chroma format a track has")
struct ChromaPolicyTests {
    @Test("one viewer without 4:4:4 brings all to 4:2:0, and two seconds after the last has left they go back")
    func fallBack() {
        var policy = ChromaPolicy()
        policy.viewersChanged(without444: 0, now: at(0))
        #expect(policy.wanted == .yuv444 && policy.deadline == nil)
        for without444 in [1, 2, 1, 1] {
            policy.viewersChanged(without444: without444, now: at(0))
            #expect(policy.wanted == .yuv420 && policy.deadline == nil)
        }
        policy.viewersChanged(without444: 0, now: at(1000))
        #expect(policy.deadline == at(3000))
        // Another viewer, who decodes all, comes meanwhile.
        policy.viewersChanged(without444: 0, now: at(2000))
        #expect(policy.deadline == at(3000))
        let polls = [2999, 3000, 9000].map { policy.poll(now: at($0)) }
        #expect(polls == [false, true, false])
        #expect(policy.wanted == .yuv444)
    }

    @Test("who comes back in that time changes nothing")
    func reload() {
        var policy = ChromaPolicy()
        for without444 in [1, 0, 1] { policy.viewersChanged(without444: without444, now: at(0)) }
        #expect(policy.deadline == nil)
        let hasChanged = policy.poll(now: at(5000))
        #expect(!hasChanged && policy.wanted == .yuv420)
        policy.viewersChanged(without444: 0, now: at(5000))
        #expect(policy.deadline == at(7000))
    }

    @Test(
        "whatever comes and goes, 4:2:0 is wanted while someone needs it, and 4:4:4 in the end", arguments: [1, 2, 3])
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var policy = ChromaPolicy()
        var (without444, time) = (0, Int64(0))
        for _ in 0..<2000 {
            time += Int64.random(in: 0...700, using: &random)
            _ = policy.poll(now: at(time))
            without444 = max(0, without444 + Int.random(in: -1...1, using: &random))
            policy.viewersChanged(without444: without444, now: at(time))
            if without444 > 0 { #expect(policy.wanted == .yuv420) }
            #expect((policy.deadline != nil) == (without444 == 0 && policy.wanted == .yuv420))
        }
        policy.viewersChanged(without444: 0, now: at(time))
        _ = policy.poll(now: at(time + 2000))
        #expect(policy.wanted == .yuv444)
    }

    @Test("a viewer is kept out only where track and source leave it no hope")
    func exclusion() {
        func excludes(_ viewer: ChromaFormat, _ track: ChromaFormat?, _ source: ChromaAbility) -> Bool {
            ChromaPolicy.excludes(viewerDecoding: viewer, track: track, source: source)
        }
        #expect(excludes(.yuv420, .yuv444, .fixed))
        #expect(!excludes(.yuv420, .yuv444, .changing))
        #expect(!excludes(.yuv420, .yuv444, .absent))
        #expect(!excludes(.yuv420, .yuv420, .fixed))
        #expect(!excludes(.yuv420, nil, .fixed))
        #expect(!excludes(.yuv444, .yuv444, .fixed))
        #expect(!excludes(.yuv444, .yuv420, .fixed))
        #expect(ChromaPolicy.exclusion.contains("4:4:4"))
        #expect(ChromaPolicy.exclusion.contains("--chroma 444,420"))
    }
}

@Suite("A track's chroma format in the hub")
struct HubChromaTests {
    private let hub = TrackHub(origin: .zero)

    private func picture(_ profile: UInt8?, idr: Bool = true) -> CodedFrame {
        let sps: [UInt8] = profile.map { [0, 0, 0, 1, 0x67, $0, 0x00, 0x1F] } ?? []
        let bytes = sps + [0, 0, 0, 1, idr ? 0x65 : 0x41, 1, 2]
        let ranges = (profile == nil ? [] : [4..<8]) + [bytes.count - 3..<bytes.count]
        return CodedFrame(h264: bytes, units: ranges, captureTime: nil)
    }

    @Test("each unit has the format of the SPS that holds for it")
    func units() {
        let formats = [(66, true), (nil, false), (244, true), (nil, false), (nil, true), (44, true), (100, true)]
            .map { hub.publish(picture($0.0, idr: $0.1), epoch: 1, arrival: at(0))?.format.chroma }
        #expect(formats == [.yuv420, .yuv420, .yuv444, .yuv444, .yuv444, .yuv444, .yuv420])
    }

    @Test("keeps out who can't decode what is there, and forgets that with its source")
    func exclusion() {
        let source = CountingSource()
        #expect(hub.attach(source, now: at(0)))
        #expect(!hub.excludes(viewerDecoding: .yuv420))
        hub.publish(picture(244), epoch: 1, arrival: at(0))
        #expect(hub.excludes(viewerDecoding: .yuv420))
        #expect(!hub.excludes(viewerDecoding: .yuv444))
        hub.detach(source, reason: "it is gone", now: at(1))
        #expect(!hub.excludes(viewerDecoding: .yuv420))
        let changing = CountingSource(changesChroma: true)
        #expect(hub.attach(changing, now: at(2)))
        hub.publish(picture(244), epoch: 2, arrival: at(3))
        #expect(!hub.excludes(viewerDecoding: .yuv420))
        hub.detach(changing, reason: "it is gone", now: at(4))
        #expect(hub.attach(source, now: at(5)))
        #expect(!hub.excludes(viewerDecoding: .yuv420), "its format isn't known yet")
    }

    @Test("tells its source when 4:4:4 is possible again, and only then")
    func polling() {
        let source = CountingSource(changesChroma: true)
        #expect(hub.attach(source, now: at(0)))
        hub.viewerCame(decoding: .yuv420, now: at(0))
        #expect(hub.wantedChroma == .yuv420 && hub.viewers == 1)
        hub.viewerLeft(decoding: .yuv420, now: at(0))
        #expect(hub.viewers == 0 && hub.chromaDeadline == at(2000))
        hub.pollChroma(now: at(1000))
        #expect(source.chroma.withLock { $0 } == [.yuv420])
        hub.pollChroma(now: at(2000))
        hub.pollChroma(now: at(3000))
        #expect(source.chroma.withLock { $0 } == [.yuv420, .yuv444])
        #expect(hub.wantedChroma == .yuv444)
    }
}
