import MediaTypes
import Testing

@testable import TrackHub

@Suite("the rates that follow from what all readers say of their viewers' paths")
struct SharedRatesTests {
    private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1_000_000)) }

    /// The readers of the source layer with these reports; nil is one without measured paths.
    private func update(_ rates: inout SharedRates, _ reports: [PathReport?], isRecorded: Bool = false) {
        rates.update(reports.map { (.source, $0) }, isRecorded: isRecorded)
    }

    private func targets(_ megabits: Double...) -> PathReport { PathReport(targets: megabits.map(self.megabits)) }

    @Test("one bad path among many does not hold the others down")
    func half() {
        #expect(SharedRates.forHalf(of: []) == nil)
        #expect(SharedRates.forHalf(of: [megabits(1)]) == megabits(1))
        #expect(SharedRates.forHalf(of: [8, 1, 8, 8, 8].map(megabits)) == megabits(8))
    }

    @Test("the viewers of two readers count as if one reader had them all")
    func twoReaders() {
        var apart = SharedRates()
        update(&apart, [targets(2, 3), targets(4, 5, 6)])
        var together = SharedRates()
        update(&together, [targets(2, 3, 4, 5, 6)])
        #expect(apart.source == megabits(4))
        #expect(together.source == megabits(4))
    }

    @Test("a reader without measured paths, and a recording, take all that the source sends")
    func unmeasured() {
        var rates = SharedRates()
        update(&rates, [targets(1)])
        #expect(rates.source == megabits(1))
        update(&rates, [targets(1), nil])
        #expect(rates.source == .highest)
        update(&rates, [targets(1, 1), nil])
        #expect(rates.source == megabits(1))
        update(&rates, [targets(1, 1), nil], isRecorded: true)
        #expect(rates.source == .highest)
    }

    @Test("while all viewers get the low layer, the source may send what half of them could come back to")
    func returning() {
        var rates = SharedRates()
        let reader = PathReport(returning: [1.5, 2.5].map(megabits))
        update(&rates, [reader, PathReport(returning: [megabits(2)])])
        #expect(rates.source == megabits(2))
        update(&rates, [reader, targets(5)])
        #expect(rates.source == megabits(5))
        update(&rates, [reader, nil])
        #expect(rates.source == .highest)
    }

    @Test("what the paths have carried is forgotten with their viewers, and so is the limit of the source")
    func leaving() {
        var rates = SharedRates()
        update(&rates, [PathReport(targets: [megabits(3)], carried: [megabits(6)])])
        #expect(rates.carried == megabits(6))
        // Viewers whose paths say nothing at the moment change nothing.
        update(&rates, [PathReport()])
        #expect(rates.source == megabits(3))
        update(&rates, [])
        #expect(rates.carried == megabits(0))
        #expect(rates.source == .highest)
    }

    @Test("the reader that can send the fewest frames in time decides for all")
    func share() {
        var rates = SharedRates()
        update(&rates, [PathReport(share: 75), nil, PathReport(share: 42)])
        #expect(rates.share == 42)
        update(&rates, [nil])
        #expect(rates.share == 100)
    }

    @Test("a change of less than five per cent is left out")
    func small() {
        var rates = SharedRates()
        update(&rates, [targets(2)])
        update(&rates, [targets(2.1)])
        #expect(rates.source == megabits(2))
        update(&rates, [targets(2.2)])
        #expect(rates.source == megabits(2.2))
    }

    @Test("the low layer has a rate that all its viewers can take, less what else is sent, while there are any")
    func low() {
        var rates = SharedRates()
        rates.update([(.low, nil)], isRecorded: false)
        #expect(rates.low == nil)
        rates.update([(.low, targets(0.6, 1)), (.low, targets(0.4)), (.source, targets(9))], isRecorded: false)
        #expect(rates.low == megabits(0.34))
        #expect(rates.source == megabits(9))
        rates.update([(.low, PathReport())], isRecorded: false)
        #expect(rates.low == megabits(0.34))
        rates.update([(.source, targets(9))], isRecorded: false)
        #expect(rates.low == nil)
    }
}
