import H264
import Ingest
import MediaTypes
import TestSupport
import Testing
import Threading
import TrackHub

@Suite("A track's snapshots")
struct SnapshotTests {
    private let hub = TrackHub(origin: now())

    @Test("there is none before the first picture")
    func none() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let answers = Answers()
        ingest.snapshot(timeout: .milliseconds(20)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all == [nil] })
    }

    @Test("the last picture is there at once, also when its source is gone")
    func last() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource(makesKeyFrames: false)
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 40, isIDR: true), epoch: 1, arrival: now())
        ingest.deliver(try pictures.next(shade: 90), epoch: 1, arrival: now())
        ingest.detach(source, reason: "it was the last")
        let answers = Answers()
        ingest.snapshot(timeout: .seconds(5)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all.count == 1 })
        #expect(abs(try #require(answers.all[0]) - 90) <= 3)
    }

    @Test("a stream that changes its size, or was broken, is followed from its next IDR on")
    func changes() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        func waitForPicture(_ shade: Int, _ size: PictureSize) throws {
            try eventually("a picture of \(size)") { () throws -> Void? in
                let answers = Answers()
                ingest.snapshot(timeout: .zero) { answers.add($0) }
                try eventually("an answer", holds: { answers.all.count == 1 })
                guard let found = answers.all[0], answers.size == size else { return nil }
                return abs(found - shade) <= 3 ? () : nil
            }
        }
        let small = try PlainPictures()
        ingest.deliver(try small.next(shade: 40, isIDR: true), epoch: 1, arrival: now())
        try waitForPicture(40, small.size)
        let large = try PlainPictures(size: PictureSize(width: 98, height: 82))
        ingest.deliver(try large.next(shade: 120, isIDR: true), epoch: 1, arrival: now())
        try waitForPicture(120, large.size)
        for byte in UInt8(1)...5 {
            let broken: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, byte]
            ingest.deliver(
                CodedFrame(h264: broken, units: [4..<7], captureTime: nil), epoch: 1, arrival: now())
        }
        ingest.deliver(try large.next(shade: 200, isIDR: true), epoch: 2, arrival: now())
        try waitForPicture(200, large.size)
        ingest.deliver(try large.next(shade: 180), epoch: 2, arrival: now())
        try waitForPicture(180, large.size)
    }

    @Test("a source that sleeps is woken, and everybody who asks meanwhile gets its first new picture")
    func asleep() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 40, isIDR: true), epoch: 1, arrival: now())
        let answers = Answers()
        // The picture is decoded on another thread; this request is answered with it at the latest.
        ingest.snapshot(timeout: .milliseconds(50)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all.count == 1 })
        try eventually("a source that sleeps", holds: { source.running == [false, true, false] })

        ingest.snapshot(timeout: .seconds(20)) { answers.add($0) }
        ingest.snapshot(timeout: .seconds(20)) { answers.add($0) }
        try eventually("a source that is awake", holds: { source.running.last == true })
        ingest.deliver(try pictures.next(shade: 200), epoch: 1, arrival: now())
        try eventually("two answers", holds: { answers.all.count == 3 })
        for shade in answers.all.dropFirst() { #expect(abs(try #require(shade) - 200) <= 3) }
        try eventually("a source that sleeps again", holds: { source.running.last == false })
    }

    @Test("a source that was woken for a snapshot first makes its picture finer, but not for long")
    func refinement() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 40, isIDR: true), epoch: 1, arrival: now())
        let answers = Answers()
        func deliver(_ shade: UInt8, isToBeRefined: Bool, isStale: Bool = false) throws {
            var frame = try pictures.next(shade: shade)
            (frame.isToBeRefined, frame.isStale) = (isToBeRefined, isStale)
            ingest.deliver(frame, epoch: 1, arrival: now())
        }
        ingest.snapshot(timeout: .seconds(20)) { answers.add($0) }
        try eventually("a source that is awake", holds: { source.running.last == true })
        // The source was only to be heard of again.
        try deliver(50, isToBeRefined: false, isStale: true)
        try deliver(90, isToBeRefined: true)
        try deliver(120, isToBeRefined: true)
        // Only the last one is as fine as it gets.
        try deliver(200, isToBeRefined: false)
        try eventually("an answer", holds: { answers.all.count == 1 })
        #expect(abs(try #require(answers.all[0]) - 200) <= 3)
        try eventually("a source that sleeps again", holds: { source.running.last == false })

        let begin = now()
        ingest.snapshot(timeout: .seconds(20)) { answers.add($0) }
        try eventually("a source that is awake", holds: { source.running.last == true })
        try deliver(60, isToBeRefined: true)
        try eventually("an answer all the same", within: .seconds(10), holds: { answers.all.count == 2 })
        #expect(abs(try #require(answers.all[1]) - 60) <= 3)
        #expect(now() - begin >= .milliseconds(1900))
    }

    @Test("what a source sends that has been running for viewers is taken as it is")
    func watched() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        ingest.setRecorded(true)
        let pictures = try PlainPictures()
        let began = now()
        try eventually("two seconds", within: .seconds(10), holds: { now() - began > .seconds(2) })
        var frame = try pictures.next(shade: 40, isIDR: true)
        frame.isToBeRefined = true
        ingest.deliver(frame, epoch: 1, arrival: now())
        let begin = now()
        let answers = Answers()
        ingest.snapshot(timeout: .seconds(20)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all.count == 1 })
        #expect(now() - begin < .seconds(2))
        #expect(source.running == [false, true])
    }

    @Test("a source that is asked for and never comes back is not waited for without end")
    func timeout() throws {
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource()))
        ingest.deliver(try PlainPictures().next(shade: 40, isIDR: true), epoch: 1, arrival: now())
        let answers = Answers()
        ingest.snapshot(timeout: .milliseconds(100)) { answers.add($0) }
        try eventually("an answer", holds: { answers.all.count == 1 })
        // An old picture is better than none.
        #expect(answers.all[0] != nil)
    }

    @Test("whoever waits when the track ends is told that there is none")
    func end() throws {
        let answers = Answers()
        var ingest: TrackIngest? = try TrackIngest(hub: hub, log: .silent)
        ingest?.snapshot(timeout: .seconds(60)) { answers.add($0) }
        ingest = nil
        try eventually("an answer", holds: { answers.all == [nil] })
    }
}
