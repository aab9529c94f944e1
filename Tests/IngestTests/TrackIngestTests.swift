import Ingest
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import VideoDecoding

@Suite("The head of a track")
struct TrackIngestTests {
    private let hub = TrackHub(origin: now())

    @Test("takes one source at a time, and tells what became of it")
    func oneSource() throws {
        let states = Mutex<[SourceState]>([])
        let ingest = try TrackIngest(hub: hub, log: .silent) { state in states.withLock { $0.append(state) } }
        let first = AskedSource()
        let second = AskedSource()
        #expect(ingest.state == .waiting)
        #expect(ingest.attach(first))
        #expect(!ingest.attach(second))
        ingest.detach(second, reason: "it never was there")
        #expect(ingest.state == .live)
        ingest.detach(first, reason: "the screen is gone")
        guard case .gone(_, "the screen is gone") = ingest.state else {
            Issue.record("\(ingest.state)")
            return
        }
        #expect(ingest.attach(second))
        #expect(states.withLock { $0.count } == 3)
        #expect(second.asked.withLock { $0.running } == [false])
    }

    @Test("hands every access unit on as it came, whether or not it can be decoded")
    func passThrough() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let reader = hub.subscribe {}
        #expect(ingest.attach(AskedSource()))
        let pictures = try PlainPictures()
        var units = [try pictures.next(shade: 50, isIDR: true), try pictures.next(shade: 60)]
        units.append(AccessUnit(bytes: [0, 0, 0, 1, 0x41, 0xFF], nalUnits: [4..<6], isIDR: false, captureTime: nil))
        for unit in units { ingest.deliver(unit, epoch: 1, arrival: now()) }
        #expect(reader.take().map(\.unit.bytes) == units.map(\.bytes))
    }

    @Test("lets its source sleep while nobody watches; what it showed before that is not what a newcomer sees first")
    func demand() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        hub.changeViewers(by: 1)
        hub.changeViewers(by: 1)
        ingest.deliver(try PlainPictures().next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        #expect(hub.canStart)
        hub.changeViewers(by: -1)
        #expect(hub.canStart)
        hub.changeViewers(by: -1)
        #expect(source.running == [false, true, false])
        #expect(!hub.canStart)
    }

    @Test("passes on to its source what viewers need: an IDR, and a bit rate")
    func wayBack() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        hub.requestKeyFrame(now: now())
        hub.requestKeyFrame(now: now())
        #expect(source.idrs == 1)
        hub.changeTargetBitRate(to: BitRate(bitsPerSecond: 700_000))
        #expect(source.asked.withLock { $0.rates } == [BitRate(bitsPerSecond: 700_000)])
        #expect(ingest.state == .live)
    }

    @Test("asks for an IDR when a picture can't be decoded")
    func undecodable() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        let whole = try pictures.next(shade: 90, isIDR: true)
        // All but the parameter sets and the slice's first bytes is missing.
        let last = try #require(whole.nalUnits.last)
        let end = last.lowerBound + 4
        ingest.deliver(
            AccessUnit(
                bytes: Array(whole.bytes[..<end]), nalUnits: whole.nalUnits.dropLast() + [last.lowerBound..<end],
                isIDR: true, captureTime: nil),
            epoch: 1, arrival: now())
        try eventually("a request for an IDR", holds: { source.idrs == 1 })
    }

    @Test("makes an IDR of the last picture where the source makes none, and carries on until the source's next")
    func hostEncoder() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(canMakeIDR: false)))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 80, isIDR: true), epoch: 1, arrival: now())
        ingest.deliver(try pictures.next(shade: 81), epoch: 1, arrival: now())
        let reader = hub.subscribe {}
        _ = reader.take()
        hub.requestKeyFrame(now: now())
        var units: [TrackUnit] = []
        func waitForUnits(_ count: Int) throws {
            try eventually("\(count) units") {
                units += reader.take()
                return units.count >= count ? () : nil
            }
        }
        try waitForUnits(1)
        #expect(units[0].unit.isIDR)
        // The source's pictures need the source's IDR: they go through the host's encoder.
        let next = try pictures.next(shade: 140)
        ingest.deliver(next, epoch: 1, arrival: now())
        try waitForUnits(2)
        #expect(units[1].unit.bytes != next.bytes)
        let own = try pictures.next(shade: 200, isIDR: true)
        ingest.deliver(own, epoch: 1, arrival: now())
        let last = try pictures.next(shade: 205)
        ingest.deliver(last, epoch: 1, arrival: now())
        try waitForUnits(4)
        #expect(units[2].unit.bytes == own.bytes)
        #expect(units[3].unit.bytes == last.bytes)

        let decoder = try H264Decoder()
        let shades = try units.flatMap { try decoder.decode($0.unit) }.map(\.shade)
        #expect(zip(shades, [81, 140, 200, 205]).allSatisfy { abs($0 - $1) <= 3 }, "\(shades)")
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.time < $1.time })
    }

    @Test("does not leave a newcomer waiting for a source that hangs")
    func hangingSource() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        ingest.deliver(try PlainPictures().next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        let reader = hub.subscribe {}
        _ = reader.take()
        hub.requestKeyFrame(now: now())
        #expect(source.idrs == 1)
        try eventually(
            "an IDR of the host's own", within: .seconds(5), holds: { reader.take().contains { $0.unit.isIDR } })
    }
}
