import CaptureLink
import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Access units from a legacy sender", .serialized)
struct LegacyAccessUnitTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func feed(_ assembler: inout FrameAssembler, _ payloads: [UInt8]..., at time: MonotonicTime) {
        for payload in payloads { assembler.add(nalUnit(payload, .legacy40), at: time) }
    }

    /// The access units that are ready, as bytes.
    private func taken(_ assembler: inout FrameAssembler) -> [[UInt8]] {
        var units: [[UInt8]] = []
        while let unit = assembler.next() { units.append(unit.frame.bytes) }
        return units
    }

    @Test("an access unit ends where the slice headers say that the next begins")
    func sliceHeaders() {
        var assembler = FrameAssembler()
        let idr = LinkVectors.sps + LinkVectors.pps + LinkVectors.idr
        feed(&assembler, LinkVectors.sps, LinkVectors.pps, LinkVectors.idr, at: start)
        #expect(taken(&assembler).isEmpty)
        feed(&assembler, LinkVectors.slice1, at: start)
        #expect(taken(&assembler) == [idr])
        // The same header again is another slice of the same picture.
        feed(&assembler, LinkVectors.slice1, LinkVectors.slice2, at: start)
        #expect(taken(&assembler) == [LinkVectors.slice1 + LinkVectors.slice1])
        assembler.finish()
        #expect(taken(&assembler) == [LinkVectors.slice2])
        assembler.finish()
        #expect(taken(&assembler).isEmpty)
        #expect(assembler.faults == 0)
    }

    @Test("a delimiter, parameter set or SEI behind a slice ends the access unit")
    func nonSlices() {
        var assembler = FrameAssembler()
        feed(&assembler, LinkVectors.sps, LinkVectors.pps, LinkVectors.idr, at: start)
        for payload in [[0, 0, 0, 1, 9, 0x10], LinkVectors.sps, LinkVectors.pps, [0, 0, 0, 1, 6, 5, 1, 1, 0x80]] {
            feed(&assembler, payload, at: start)
            #expect(taken(&assembler).count == 1)
            // Even a slice of the very same header is a new picture behind those.
            feed(&assembler, LinkVectors.idr, at: start)
        }
        assembler.finish()
        #expect(taken(&assembler).count == 1)
        #expect(assembler.faults == 0)
    }

    @Test("an access unit ends after 40 ms without a byte, and a later slice of it is a fault")
    func timeout() {
        var assembler = FrameAssembler()
        #expect(assembler.nextDeadline == nil)
        feed(&assembler, LinkVectors.sps, LinkVectors.pps, at: start)
        #expect(assembler.nextDeadline == nil)
        feed(&assembler, LinkVectors.idr, at: start)
        #expect(assembler.nextDeadline == start + .milliseconds(40))
        assembler.timeout(start + .milliseconds(39))
        #expect(taken(&assembler).isEmpty)
        assembler.bytesArrived(at: start + .milliseconds(30))
        assembler.timeout(start + .milliseconds(40))
        #expect(taken(&assembler).isEmpty)
        assembler.timeout(start + .milliseconds(70))
        #expect(taken(&assembler).count == 1)
        #expect(assembler.nextDeadline == nil)
        feed(&assembler, LinkVectors.idr, at: start + .milliseconds(80))
        #expect(assembler.counters.lateUnits == 1)
        #expect(assembler.faults == 1)
        #expect(assembler.nextDeadline == nil)
        feed(&assembler, LinkVectors.slice1, LinkVectors.slice2, at: start + .milliseconds(90))
        #expect(taken(&assembler) == [LinkVectors.slice1])
        #expect(assembler.timeouts == 1)
    }

    @Test("a picture that comes again behind its parameter sets is a new one, also after a time-out")
    func repeatedIDR() {
        var assembler = FrameAssembler()
        for round in Int64(0)..<3 {
            let time = start + .seconds(round)
            feed(&assembler, LinkVectors.sps, LinkVectors.pps, LinkVectors.idr, at: time)
            assembler.timeout(time + .milliseconds(40))
        }
        #expect(taken(&assembler).count == 3)
        #expect(assembler.faults == 0)
    }

    @Test("a slice without its parameter sets, or that can't be read, is a counted fault")
    func badSlices() {
        var assembler = FrameAssembler()
        feed(&assembler, LinkVectors.idr, at: start)
        #expect(assembler.counters.withoutHeaders == 1)
        feed(&assembler, LinkVectors.sps, LinkVectors.pps, [0, 0, 0, 1, 0x65, 0x00, 0x01], at: start)
        #expect(assembler.counters.invalidUnits == 1)
        assembler.finish()
        #expect(taken(&assembler).isEmpty)
    }

    @Test("no mutation of a stream brings anything down", arguments: ["access-unit", "legacy40", "legacy16"])
    func mutations(name: String) throws {
        let bytes = try LinkVectors.bytes(name)
        var random = SeededRandom(seed: 6)
        for _ in 0..<500 {
            var assembler = FrameAssembler()
            for message in decode(random.mutation(of: bytes)).messages { assembler.add(message, at: start) }
            assembler.finish()
            while let unit = assembler.next()?.frame {
                #expect(!unit.units.isEmpty)
                #expect(unit.units.last?.upperBound == unit.bytes.count)
            }
        }
    }
}
