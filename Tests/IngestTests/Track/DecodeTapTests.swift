import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Ingest

@Suite("The decode tap's thread")
struct DecodeTapTests {
    @Test("a thread that can't start is an error, nobody waits for the tap, and who asked for a picture gets none")
    func noThread() throws {
        let answers = Answers()
        var tap: DecodeTap? = try DecodeTap(log: .silent)
        tap?.snapshot(from: nil, until: .distantFuture) { picture, _ in answers.add(picture) }
        let failure = #expect(throws: IngestError.self) {
            try tap?.start(onFailure: {}, onPicture: { _, _, _ in false }, startThread: { _, _ in nil })
        }
        #expect(failure?.description == "no thread left for the decode tap")
        // More than may wait for a running tap, from a source that makes no IDRs.
        let unit = CodedFrame(
            bytes: [UInt8](repeating: 0, count: 12 << 20), units: [], isRandomAccess: false, captureTime: nil,
            format: nil)
        for number in UInt64(1)...3 {
            let began = now()
            tap?.awaitRoom(for: unit)
            _ = tap?.take(DecodeTap.Delivery(frame: unit, epoch: 1, arrival: began, number: number))
            #expect(now() - began < .seconds(5), "it waited as long as it may")
        }
        tap = nil
        #expect(answers.all == [nil])
    }

    @Test("the thread has a low priority")
    func priority() throws {
        let usual = try #require(try niceValueOfThisThread())
        let tap = try DecodeTap(log: .silent)
        try tap.start(onFailure: {}, onPicture: { _, _, _ in false })
        defer { tap.stop() }
        let values = Mutex<[Int?]>([])
        // Answered at once, because there is no picture.
        tap.snapshot(from: nil, until: .zero) { _, _ in values.withLock { $0.append(try? niceValueOfThisThread()) } }
        try eventually("an answer") { values.withLock { $0.count } == 1 }
        let low: Int? = min(usual + 5, 19)
        #expect(values.withLock { $0 } == [low])
    }

    @Test("a low layer that nobody takes for a moment, while the thread is busy, begins with a key frame again")
    func lowLayerAgain() throws {
        let tap = try DecodeTap(log: .silent)
        let goesOn = try #require(EventFD())
        let areKeyFrames = Mutex<[Bool]>([])
        try tap.start(
            onFailure: {}, onPicture: { _, _, _ in false },
            onLowPicture: { frame, _, _ in
                let count = areKeyFrames.withLock { list in
                    list.append(frame.isRandomAccess)
                    return list.count
                }
                if count == 1 { goesOn.wait() }
                return true
            })
        defer {
            goesOn.signal()
            tap.stop()
        }
        let pictures = try PlainPictures()
        func take(_ frame: CodedFrame, number: UInt64) {
            _ = tap.take(DecodeTap.Delivery(frame: frame, epoch: 1, arrival: now(), number: number))
        }
        let rate = BitRate(bitsPerSecond: 600_000)
        tap.sourceChanged(makesKeyFrames: true)
        tap.encodeLow(at: rate)
        take(try pictures.next(shade: 50, isIDR: true), number: 1)
        try eventually("the first picture") { areKeyFrames.withLock { $0.count } == 1 }
        tap.encodeLow(at: nil)
        tap.encodeLow(at: rate)
        take(try pictures.next(shade: 90), number: 2)
        goesOn.signal()
        try eventually("the next picture") { areKeyFrames.withLock { $0.count } > 1 }
        #expect(areKeyFrames.withLock { $0[1] })
    }
}
