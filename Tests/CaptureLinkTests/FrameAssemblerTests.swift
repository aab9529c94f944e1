import CaptureLink
import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Access units from our own sender")
struct FrameAssemblerTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private let time = LinkVectors.time

    private func assembler() -> FrameAssembler { FrameAssembler() }

    /// Sends SPS, PPS and an IDR slice, and takes the access unit.
    private func begin(_ assembler: inout FrameAssembler, epoch: UInt64 = 1) -> AssembledFrame? {
        assembler.add(nalUnit(LinkVectors.sps, time: time, epoch: epoch), at: start)
        assembler.add(nalUnit(LinkVectors.pps, time: time, epoch: epoch), at: start)
        assembler.add(nalUnit(LinkVectors.idr, ends: true, time: time, epoch: epoch), at: start)
        return assembler.next()
    }

    @Test("an access unit is complete with its last NAL unit, with time, number and damage")
    func complete() throws {
        var assembler = assembler()
        let notice = PictureNotice(sequenceNumber: 3, damage: PixelRectangle(x: 1, y: 2, width: 3, height: 4))
        let header = MessageHeader(kindCode: 2, length: 16, captureTime: time, epoch: 1)
        assembler.add(ReceivedMessage(header: header, form: .extended, body: .picture(notice)), at: start)
        let ready = begin(&assembler)
        let unit = try #require(ready)
        #expect(unit.frame.bytes == LinkVectors.sps + LinkVectors.pps + LinkVectors.idr)
        #expect(unit.frame.units.map { unit.frame.bytes[$0.lowerBound] } == [0x67, 0x68, 0x65])
        #expect(unit.frame.isRandomAccess)
        #expect(unit.frame.captureTime == time)
        #expect(unit.epoch == 1)
        #expect(unit.notice == notice)
        #expect(assembler.next() == nil)
        #expect(assembler.nextDeadline == nil)
        assembler.add(nalUnit(LinkVectors.slice1, ends: true), at: start)
        let second = assembler.next()
        let next = try #require(second)
        #expect(!next.frame.isRandomAccess)
        #expect(next.notice == nil)
        #expect(next.frame.captureTime == nil)
        #expect(assembler.counters.frames == 2)
        #expect(assembler.counters.randomAccessFrames == 1)
        #expect(assembler.faults == 0)
    }

    @Test("an IDR access unit without parameter sets gets the latest in front")
    func parameterSetsInFront() throws {
        var assembler = assembler()
        _ = begin(&assembler)
        let sei: [UInt8] = [0, 0, 0, 1, 6, 5, 1, 0xAA, 0x80]
        assembler.add(nalUnit(sei), at: start)
        assembler.add(nalUnit(LinkVectors.idr, ends: true), at: start)
        let ready = assembler.next()
        let unit = try #require(ready).frame
        #expect(unit.bytes == LinkVectors.sps + LinkVectors.pps + sei + LinkVectors.idr)
        #expect(unit.units.map { unit.bytes[$0.lowerBound] } == [0x67, 0x68, 6, 0x65])
        #expect(unit.units.last?.upperBound == unit.bytes.count)
    }

    @Test("parameter sets that stand behind something else are moved to the front")
    func parameterSetsMoved() throws {
        var assembler = assembler()
        let sei: [UInt8] = [0, 0, 0, 1, 6, 5, 1, 0xAA, 0x80]
        for payload in [sei, LinkVectors.pps, LinkVectors.sps] { assembler.add(nalUnit(payload), at: start) }
        assembler.add(nalUnit(LinkVectors.idr, ends: true), at: start)
        #expect(
            assembler.next()?.frame.bytes == LinkVectors.sps + LinkVectors.pps + sei + LinkVectors.idr)
    }

    @Test("pictures before any parameter set are left out and counted")
    func withoutParameterSets() {
        var assembler = assembler()
        assembler.add(nalUnit(LinkVectors.idr, ends: true), at: start)
        assembler.add(nalUnit(LinkVectors.slice1, ends: true), at: start)
        #expect(assembler.next() == nil)
        #expect(assembler.counters.withoutHeaders == 2)
    }

    @Test("delimiters, filler and extensions are left out, zeros behind a NAL unit too")
    func leftOut() throws {
        var assembler = assembler()
        _ = begin(&assembler)
        for payload in [[0, 0, 0, 1, 9, 0x10], [0, 0, 0, 1, 14, 1, 1], [0, 0, 0, 1, 0x41, 0x9A] as [UInt8]] {
            assembler.add(nalUnit(payload), at: start)
        }
        assembler.add(nalUnit(LinkVectors.slice1 + [0, 0, 0]), at: start)
        assembler.add(nalUnit([0, 0, 0, 1, 12, 0xFF, 0x80], ends: true), at: start)
        let ready = assembler.next()
        let unit = try #require(ready).frame
        #expect(unit.bytes == [0, 0, 0, 1, 0x41, 0x9A] + LinkVectors.slice1)
        #expect(assembler.counters.skippedUnits == 3)
        #expect(assembler.faults == 0)
    }

    @Test("garbage in place of a NAL unit is counted, and the rest goes on")
    func garbage() throws {
        var assembler = assembler()
        _ = begin(&assembler)
        let garbage: [[UInt8]] = [
            [], [0, 0, 0, 1], [0, 0, 0, 1, 0x65], [0, 0, 0, 1, 0xE5, 1], [0, 0, 0, 1, 0x60, 1], [0, 0, 0, 1, 0x7F, 1],
            [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0x67, 1], [1, 2, 3, 4, 0x65, 1],
        ]
        for payload in garbage { assembler.add(nalUnit(payload), at: start) }
        #expect(assembler.counters.invalidUnits == UInt64(garbage.count))
        assembler.add(nalUnit(LinkVectors.slice1, ends: true), at: start)
        #expect(assembler.next()?.frame.bytes == LinkVectors.slice1)
    }

    @Test("a new epoch cuts the old one off and forgets its parameter sets")
    func newEpoch() throws {
        var assembler = assembler()
        _ = begin(&assembler)
        assembler.add(nalUnit(LinkVectors.slice1), at: start)
        assembler.add(nalUnit(LinkVectors.slice2, ends: true, epoch: 2), at: start)
        #expect(assembler.next() == nil)
        #expect(assembler.epoch == 2)
        #expect(assembler.counters.cutOff == 1)
        #expect(assembler.counters.withoutHeaders == 1)
        #expect(begin(&assembler, epoch: 2)?.epoch == 2)
    }

    @Test("an access unit that never ended ends with the next picture, and is counted")
    func missingEnd() throws {
        var assembler = assembler()
        _ = begin(&assembler)
        assembler.add(nalUnit(LinkVectors.slice1, time: time), at: start)
        assembler.add(nalUnit(LinkVectors.slice2, ends: true, time: time + .milliseconds(16)), at: start)
        #expect(assembler.next()?.frame.bytes == LinkVectors.slice1)
        #expect(assembler.next()?.frame.bytes == LinkVectors.slice2)
        #expect(assembler.counters.missingEnds == 1)
    }

    @Test("an end of the stream leaves out what is not whole")
    func finish() {
        var assembler = assembler()
        _ = begin(&assembler)
        assembler.add(nalUnit(LinkVectors.slice1), at: start)
        assembler.finish()
        #expect(assembler.next() == nil)
        #expect(assembler.counters.cutOff == 1)
    }

    @Test("an access unit past the limit of NAL units is left out, and the next one is not")
    func tooManyNALUnits() {
        var assembler = assembler()
        _ = begin(&assembler)
        for _ in 0...AccessUnitBuilder.nalUnitLimit { assembler.add(nalUnit(LinkVectors.slice1), at: start) }
        assembler.add(nalUnit(LinkVectors.slice1, ends: true), at: start)
        #expect(assembler.next() == nil)
        #expect(assembler.counters.oversizedFrames == 1)
        assembler.add(nalUnit(LinkVectors.slice2, ends: true), at: start)
        #expect(assembler.next()?.frame.bytes == LinkVectors.slice2)
    }

    @Test("an access unit past the limit of bytes is left out, and the next one is not")
    func tooManyBytes() {
        var assembler = assembler()
        _ = begin(&assembler)
        let large = LinkVectors.slice1 + [UInt8](repeating: 0x55, count: 6 << 20)
        for _ in 0..<3 { assembler.add(nalUnit(large), at: start) }
        assembler.add(nalUnit(LinkVectors.slice1, ends: true), at: start)
        #expect(assembler.next() == nil)
        #expect(assembler.counters.oversizedFrames == 1)
        assembler.add(nalUnit(LinkVectors.slice2, ends: true), at: start)
        #expect(assembler.next()?.frame.bytes == LinkVectors.slice2)
    }

    @Test("an end without a slice is counted, messages of another stream are not taken")
    func others() {
        var assembler = assembler()
        _ = begin(&assembler)
        assembler.add(nalUnit([0, 0, 0, 1, 9, 0x10], ends: true), at: start)
        #expect(assembler.counters.emptyFrames == 1)
        var message = MessageHeader(kindCode: 0, flags: .endOfFrame, stream: 4, length: 16, epoch: 1)
        message.epoch = 77
        assembler.add(
            ReceivedMessage(header: message, form: .extended, body: .unit(LinkVectors.slice1)), at: start)
        #expect(assembler.next() == nil)
        #expect(assembler.otherStreamMessages == 1)
        #expect(assembler.epoch == 1)
    }
}
