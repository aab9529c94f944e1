import CaptureLink
import MediaTypes
import Testing

@testable import TrackHub

@Suite("what a source is told")
struct SourceDemandTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private let slow = BitRate(bitsPerSecond: 1_000_000)
    private let fast = BitRate(bitsPerSecond: 5_000_000)
    private let still = FrameRate(framesPerSecond: 5)

    /// Returns everything that there is to tell now.
    private func words(
        _ demand: inout SourceDemand, chroma: ChromaFormat? = nil, now: MonotonicTime? = nil
    ) -> [SourceDemand.Word] {
        var words: [SourceDemand.Word] = []
        while let word = demand.nextWord(chroma: chroma, now: now ?? start), words.count < 10 { words.append(word) }
        return words
    }

    @Test("is its format first, then its rates, and to run at last; each once")
    func order() {
        var demand = SourceDemand()
        demand.viewers = 1
        demand.rate = fast
        demand.limits.frameRate = still
        let first = words(&demand, chroma: .yuv420)
        #expect(first == [.chroma(.yuv420), .bitRate(fast), .frameRate(still), .running(true)])
        let second = words(&demand, chroma: .yuv420)
        #expect(second.isEmpty)
    }

    @Test("is to rest where nobody watches, waits for a picture, or records")
    func running() {
        var demand = SourceDemand()
        #expect(demand.toldRunning == nil)
        let first = words(&demand)
        #expect(first == [.running(false)])
        #expect(demand.runningSince == nil)
        for change: (inout SourceDemand, Int) -> Void in [
            { $0.viewers = $1 }, { $0.snapshots = $1 }, { $0.isRecorded = $1 > 0 },
        ] {
            change(&demand, 1)
            let woken = words(&demand, now: start + .seconds(1))
            #expect(woken == [.running(true)])
            #expect(demand.runningSince == start + .seconds(1))
            change(&demand, 0)
            let sent = words(&demand)
            #expect(sent == [.running(false)])
        }
    }

    @Test("is the smaller rate of the paths and the limit, and that a limit is gone")
    func limits() {
        var demand = SourceDemand()
        _ = words(&demand)
        demand.limits = SourceLimits(frameRate: still, bitRate: slow)
        let limited = words(&demand)
        #expect(limited == [.bitRate(slow), .frameRate(still)])
        demand.rate = fast
        let unchanged = words(&demand)
        #expect(unchanged.isEmpty)
        demand.limits = SourceLimits()
        let free = words(&demand)
        #expect(free == [.bitRate(fast), .frameRate(FrameRate(framesPerSecond: 120))])
        demand.rate = nil
        let unknown = words(&demand)
        #expect(unknown == [.bitRate(BitRate(bitsPerSecond: 1_000_000_000))])
    }

    @Test("is fewer frames and bits by the same share while the host can't send all of them in time")
    func share() {
        var demand = SourceDemand()
        _ = words(&demand)
        demand.share = 50
        let half = words(&demand)
        #expect(half == [.bitRate(BitRate(bitsPerSecond: 2_000_000)), .frameRate(FrameRate(framesPerSecond: 15))])
        demand.carried = BitRate(bitsPerSecond: 12_000_000)
        let carried = words(&demand)
        #expect(carried == [.bitRate(BitRate(bitsPerSecond: 6_000_000)), .carried(demand.carried)])
        // No source is asked for less than this.
        demand.limits = SourceLimits(frameRate: still, bitRate: slow)
        let limited = words(&demand)
        #expect(limited == [.bitRate(slow), .frameRate(FrameRate(millihertz: 2_500))])
        demand.share = 100
        let whole = words(&demand)
        #expect(whole == [.frameRate(still)])
        demand.limits = SourceLimits()
        let free = words(&demand)
        #expect(
            free == [.bitRate(BitRate(bitsPerSecond: 1_000_000_000)), .frameRate(FrameRate(framesPerSecond: 120))])
    }

    @Test("is no format where it has only its own, and nothing of the one that it begins with")
    func format() {
        var demand = SourceDemand()
        let fixed = words(&demand)
        #expect(fixed == [.running(false)])
        let first = words(&demand, chroma: .yuv444)
        #expect(first.isEmpty)
        let second = words(&demand, chroma: .yuv420)
        #expect(second == [.chroma(.yuv420)])
        let third = words(&demand, chroma: .yuv444)
        #expect(third == [.chroma(.yuv444)])
    }

    @Test("is told to the next source anew")
    func nextSource() {
        var demand = SourceDemand()
        demand.viewers = 2
        demand.rate = slow
        demand.limits.frameRate = still
        let first = words(&demand, chroma: .yuv420)
        demand.sourceCame()
        #expect(demand.runningSince == nil)
        #expect(demand.toldRunning == nil)
        let second = words(&demand, chroma: .yuv420)
        #expect(first == second)
        #expect(second.count == 4)
    }
}
