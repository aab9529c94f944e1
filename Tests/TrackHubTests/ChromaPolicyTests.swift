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
        policy.viewerCame(decoding: .yuv444)
        #expect(policy.wanted == .yuv444)
        policy.viewerCame(decoding: .yuv420)
        policy.viewerCame(decoding: .yuv420)
        #expect(policy.wanted == .yuv420)
        policy.viewerLeft(decoding: .yuv420, now: at(0))
        #expect(policy.deadline == nil)
        policy.viewerLeft(decoding: .yuv444, now: at(100))
        #expect(policy.deadline == nil)
        policy.viewerLeft(decoding: .yuv420, now: at(1000))
        #expect(policy.deadline == at(3000))
        let polls = [2999, 3000, 9000].map { policy.poll(now: at($0)) }
        #expect(polls == [false, true, false])
        #expect(policy.wanted == .yuv444)
    }

    @Test("who comes back in that time changes nothing")
    func reload() {
        var policy = ChromaPolicy()
        policy.viewerCame(decoding: .yuv420)
        policy.viewerLeft(decoding: .yuv420, now: at(0))
        policy.viewerCame(decoding: .yuv420)
        #expect(policy.deadline == nil)
        let hasChanged = policy.poll(now: at(5000))
        #expect(!hasChanged && policy.wanted == .yuv420)
        policy.viewerLeft(decoding: .yuv420, now: at(5000))
        #expect(policy.deadline == at(7000))
    }

    @Test(
        "whatever comes and goes, 4:2:0 is wanted while someone needs it, and 4:4:4 in the end", arguments: [1, 2, 3])
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var policy = ChromaPolicy()
        var (limited, full, time) = (0, 0, Int64(0))
        for _ in 0..<2000 {
            time += Int64.random(in: 0...700, using: &random)
            _ = policy.poll(now: at(time))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                policy.viewerCame(decoding: .yuv420)
                limited += 1
            case 1:
                policy.viewerCame(decoding: .yuv444)
                full += 1
            case 2 where full > 0:
                policy.viewerLeft(decoding: .yuv444, now: at(time))
                full -= 1
            case 3 where limited > 0:
                policy.viewerLeft(decoding: .yuv420, now: at(time))
                limited -= 1
            default: break
            }
            if limited > 0 { #expect(policy.wanted == .yuv420) }
            #expect((policy.deadline != nil) == (limited == 0 && policy.wanted == .yuv420))
        }
        while limited > 0 {
            policy.viewerLeft(decoding: .yuv420, now: at(time))
            limited -= 1
        }
        // Removing one viewer too many changes nothing.
        policy.viewerLeft(decoding: .yuv420, now: at(time))
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

/// A source of both formats that remembers what the hub told it.
private final class TwoFormatSource: TrackSource {
    let ability = Mutex(ChromaAbility.changing)
    let changes = Mutex(0)

    var chromaAbility: ChromaAbility { ability.withLock { $0 } }
    func keyFrameWanted() {}
    func pictureWanted() {}
    func viewersChanged(to count: Int) {}
    func targetBitRateChanged(to rate: BitRate) {}
    func wantedChromaChanged() { changes.withLock { $0 += 1 } }
}

@Suite("A track's chroma format in the hub")
struct HubChromaTests {
    private let hub = TrackHub(origin: .zero)

    private func picture(_ profile: UInt8?, idr: Bool = true) -> AccessUnit {
        let sps: [UInt8] = profile.map { [0, 0, 0, 1, 0x67, $0, 0x00, 0x1F] } ?? []
        let bytes = sps + [0, 0, 0, 1, idr ? 0x65 : 0x41, 1, 2]
        let ranges = (profile == nil ? [] : [4..<8]) + [bytes.count - 3..<bytes.count]
        return AccessUnit(bytes: bytes, nalUnits: ranges, isIDR: idr, captureTime: nil)
    }

    @Test("each unit has the format of the SPS that holds for it")
    func units() {
        let formats = [(66, true), (nil, false), (244, true), (nil, false), (nil, true), (44, true), (100, true)]
            .map { hub.publish(picture($0.0, idr: $0.1), epoch: 1, arrival: at(0)).chroma }
        #expect(formats == [.yuv420, .yuv420, .yuv444, .yuv444, .yuv444, .yuv444, .yuv420])
    }

    @Test("keeps out who can't decode what is there, and forgets that with its source")
    func exclusion() {
        let source = TwoFormatSource()
        source.ability.withLock { $0 = .fixed }
        hub.connect(source: source)
        #expect(!hub.excludes(viewerDecoding: .yuv420))
        hub.publish(picture(244), epoch: 1, arrival: at(0))
        #expect(hub.excludes(viewerDecoding: .yuv420))
        #expect(!hub.excludes(viewerDecoding: .yuv444))
        source.ability.withLock { $0 = .changing }
        #expect(!hub.excludes(viewerDecoding: .yuv420))
        source.ability.withLock { $0 = .fixed }
        hub.forgetChroma()
        #expect(!hub.excludes(viewerDecoding: .yuv420))
    }

    @Test("tells its source when 4:4:4 is possible again, and only then")
    func polling() {
        let source = TwoFormatSource()
        hub.connect(source: source)
        hub.viewerCame(decoding: .yuv420)
        #expect(hub.wantedChroma == .yuv420 && hub.viewers == 1)
        hub.viewerLeft(decoding: .yuv420, now: at(0))
        #expect(hub.viewers == 0 && hub.chromaDeadline == at(2000))
        hub.pollChroma(now: at(1000))
        #expect(source.changes.withLock { $0 } == 0)
        hub.pollChroma(now: at(2000))
        hub.pollChroma(now: at(3000))
        #expect(source.changes.withLock { $0 } == 1)
        #expect(hub.wantedChroma == .yuv444)
    }
}
