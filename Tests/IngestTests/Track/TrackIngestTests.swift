import H264
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
        #expect(ingest.hub.sourceState == .waiting)
        #expect(ingest.attach(first))
        #expect(!ingest.attach(second))
        ingest.detach(second, reason: "it never was there")
        #expect(ingest.hub.sourceState == .live)
        ingest.detach(first, reason: "the screen is gone")
        guard case .gone(_, "the screen is gone") = ingest.hub.sourceState else {
            Issue.record("\(ingest.hub.sourceState)")
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
        units.append(CodedFrame(h264: [0, 0, 0, 1, 0x41, 0xFF], units: [4..<6], captureTime: nil))
        for unit in units { ingest.deliver(unit, epoch: 1, arrival: now()) }
        #expect(reader.take().map(\.coded.bytes) == units.map(\.bytes))
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
        hub.changeViewers(by: 1)
        #expect(source.running == [false, true, false, true])
        #expect(!hub.canStart)
        #expect(source.idrs > 0)
    }

    @Test("what the screen showed when sharing began is not what the first viewer sees an hour later")
    func firstViewer() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        ingest.deliver(try PlainPictures().next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        hub.changeViewers(by: 1)
        #expect(!hub.canStart)
        #expect(source.idrs == 1)
    }

    @Test("however threads get in each other's way, the source's last word is the right one")
    func lastWord() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let hub = self.hub
        let threads = (0..<4).compactMap { index in
            NamedThread("viewer \(index)") {
                for _ in 0..<500 {
                    hub.changeViewers(by: 1)
                    hub.changeViewers(by: -1)
                }
                if index == 0 { hub.changeViewers(by: 1) }
            }
        }
        for thread in threads { thread.join() }
        #expect(source.running.last == true)
        hub.changeViewers(by: -1)
        #expect(source.running.last == false)
    }

    @Test("an application may write the IDR that it is asked for at once, in the very call that asks")
    func writesWhenAsked() throws {
        final class Eager: PictureSource {
            let makesKeyFrames = true
            let onRequest = Mutex<(@Sendable () -> Void)?>(nil)

            func requestKeyFrame() { onRequest.withLock { $0 }?() }
        }
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = Eager()
        let pictures = try PlainPictures()
        let first = try pictures.next(shade: 50, isIDR: true)
        let second = try pictures.next(shade: 60)
        let asked = try pictures.next(shade: 70, isIDR: true)
        #expect(ingest.attach(source))
        source.onRequest.withLock { $0 = { ingest.deliver(asked, epoch: 1, arrival: now()) } }
        ingest.deliver(first, epoch: 1, arrival: now())
        hub.requestKeyFrame(now: now() - .seconds(10))
        hub.requestKeyFrame(now: now() - .seconds(10))
        ingest.deliver(second, epoch: 1, arrival: now())
        #expect(hub.cachedFrames.first?.coded.bytes == asked.bytes)
        source.onRequest.withLock { $0 = nil }
    }

    @Test("a legacy stream that comes faster than it can be decoded is decoded to its last picture")
    func floodWithoutIDR() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource(makesKeyFrames: false)
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        for index in 0..<300 {
            let unit = try pictures.next(shade: UInt8(40 + index % 100), isIDR: index == 0)
            ingest.deliver(unit, epoch: 0, arrival: now())
        }
        ingest.deliver(try pictures.next(shade: 200), epoch: 0, arrival: now())
        let answers = Answers()
        ingest.snapshot(timeout: .seconds(10)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all.count == 1 })
        #expect(abs(try #require(answers.all[0]) - 200) <= 3)
        // A viewer who joins after the cache was dropped sees that picture, too, from the host's own encoder.
        for isPaused in [true, false] { hub.setPaused(isPaused) }
        hub.requestKeyFrame(now: now())
        try eventually("an IDR of the last picture", holds: { hub.cachedFrames.first?.coded.isRandomAccess == true })
        let decoder = try H264Decoder()
        let shown = try hub.cachedFrames.flatMap { try decoder.decode($0.coded) }
        #expect(abs(try #require(shown.last).shade - 200) <= 3)
    }

    @Test("while the host's encoder takes over, no picture of the source is left out, whatever comes in between")
    func takeOverInMotion() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        let pictures = try PlainPictures()
        let reader = hub.subscribe {}
        ingest.deliver(try pictures.next(shade: 30, isIDR: true), epoch: 0, arrival: now())
        for index in 0..<40 {
            if index == 10 { hub.requestKeyFrame(now: now()) }
            ingest.deliver(try pictures.next(shade: UInt8(40 + index * 4)), epoch: 0, arrival: now())
        }
        let decoder = try H264Decoder()
        var last = 0
        try eventually(
            "the last picture on the track",
            holds: {
                for unit in reader.take() {
                    if let picture = try decoder.decode(unit.coded).last { last = picture.shade }
                }
                return abs(last - 196) <= 3
            })
    }

    @Test("passes on to its source what viewers need: an IDR, and a bit rate")
    func wayBack() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        hub.requestKeyFrame(now: now())
        hub.requestKeyFrame(now: now())
        #expect(source.idrs == 1)
        hub.report(BitRate(bitsPerSecond: 700_000))
        #expect(source.asked.withLock { $0.rates } == [BitRate(bitsPerSecond: 700_000)])
        #expect(ingest.hub.sourceState == .live)
    }

    @Test("asks for an IDR when a picture can't be decoded")
    func undecodable() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        let whole = try pictures.next(shade: 90, isIDR: true)
        // Everything but the parameter sets and the slice's first bytes is missing.
        let last = try #require(whole.units.last)
        let end = last.lowerBound + 4
        ingest.deliver(
            CodedFrame(
                h264: Array(whole.bytes[..<end]), units: whole.units.dropLast() + [last.lowerBound..<end],
                captureTime: nil),
            epoch: 1, arrival: now())
        try eventually("a request for an IDR", holds: { source.idrs == 1 })
    }

    @Test("reports for each source that its pictures can't be decoded, and wants a key frame only where one may help")
    func undecodableSources() throws {
        let lines = Mutex<[String]>([])
        let log = EventLog { _, line in lines.withLock { $0.append(line) } }
        let ingest = try TrackIngest(hub: hub, log: log)
        // Its decoder would have to keep more pictures than there may be.
        var bomb = SkippedPictures(columns: 512, rows: 270, references: 16)
        // The slice ends after its first bytes.
        let whole = try PlainPictures().next(shade: 90, isIDR: true)
        let last = try #require(whole.units.last)
        let end = last.lowerBound + 4
        let damaged = CodedFrame(
            h264: Array(whole.bytes[..<end]), units: whole.units.dropLast() + [last.lowerBound..<end], captureTime: nil)
        func reports() -> [String] { lines.withLock { $0.filter { $0.contains("can't be decoded") } } }
        for (number, unit) in [bomb.idr(), bomb.idr(), damaged].enumerated() {
            let source = AskedSource()
            #expect(ingest.attach(source))
            for _ in 0..<2 { ingest.deliver(unit, epoch: UInt64(number + 1), arrival: now()) }
            try eventually("report \(number + 1)", holds: { reports().count == number + 1 })
            ingest.detach(source, reason: "the test goes on")
        }
        #expect(reports().map { $0.hasSuffix("; a key frame is wanted") } == [false, false, true])
    }

    @Test("makes an IDR of the last picture where the source makes none, and carries on until the source's next")
    func hostEncoder() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 80, isIDR: true), epoch: 1, arrival: now())
        ingest.deliver(try pictures.next(shade: 81), epoch: 1, arrival: now())
        let reader = hub.subscribe {}
        _ = reader.take()
        hub.requestKeyFrame(now: now())
        var units: [TrackFrame] = []
        func waitForUnits(_ count: Int) throws {
            try eventually("\(count) units") {
                units += reader.take()
                return units.count >= count ? () : nil
            }
        }
        try waitForUnits(1)
        #expect(units[0].coded.isRandomAccess)
        // The source's pictures depend on the source's IDR, so they go through the host's encoder.
        let next = try pictures.next(shade: 140)
        ingest.deliver(next, epoch: 1, arrival: now())
        try waitForUnits(2)
        #expect(units[1].coded.bytes != next.bytes)
        let own = try pictures.next(shade: 200, isIDR: true)
        ingest.deliver(own, epoch: 1, arrival: now())
        let last = try pictures.next(shade: 205)
        ingest.deliver(last, epoch: 1, arrival: now())
        try waitForUnits(4)
        #expect(units[2].coded.bytes == own.bytes)
        #expect(units[3].coded.bytes == last.bytes)

        let decoder = try H264Decoder()
        let shades = try units.flatMap { try decoder.decode($0.coded) }.map(\.shade)
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
            "an IDR of the host's own", within: .seconds(5),
            holds: { reader.take().contains { $0.coded.isRandomAccess } })
    }
}
