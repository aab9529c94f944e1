import MediaTypes
import Testing

@testable import WebRTC

@Suite("The pace of the packets")
struct PacerTests {
    private let fast = BitRate(bitsPerSecond: 4_000_000)
    private let slow = BitRate(bitsPerSecond: 50_000)
    private let now = MonotonicTime.zero + .seconds(1)

    @Test("what was sent while the rate was low for a moment doesn't hold up packets at a higher one")
    func lowForAMoment() {
        var pacer = Pacer()
        pacer.setRate(slow, now: now)
        for _ in 0..<5 { pacer.consume(1200, now: now) }
        let isSentEarly = pacer.tryConsume(1200, now: now + .milliseconds(500))
        #expect(!isSentEarly)
        pacer.setRate(fast, now: now)
        let isSentLater = pacer.tryConsume(1200, now: now + .milliseconds(12))
        #expect(isSentLater)
    }

    @Test("however much is sent again, other packets wait for a second at most")
    func maxWait() {
        var pacer = Pacer()
        pacer.setRate(slow, now: now)
        for _ in 0..<200 { pacer.consume(1200, now: now) }
        let isSentEarly = pacer.tryConsume(1200, now: now + .milliseconds(900))
        #expect(!isSentEarly)
        let isSentLater = pacer.tryConsume(1200, now: now + .seconds(1))
        #expect(isSentLater)
    }

    @Test("what is sent again holds up others for a tenth of a second at most")
    func retransmissionRoom() {
        var pacer = Pacer()
        pacer.setRate(BitRate(bitsPerSecond: 800_000), now: now)
        #expect(pacer.room(now: now) == 10_000)
        pacer.consume(6000, now: now)
        #expect(pacer.room(now: now) == 4000)
        pacer.consume(6000, now: now)
        #expect(pacer.room(now: now) == 0)
        #expect(pacer.room(now: now + .milliseconds(120)) == 10_000)
    }

    @Test("the packets of a probe are spread over its time")
    func probe() {
        var pacer = Pacer()
        pacer.setRate(BitRate(bitsPerSecond: 1_000_000), isProbing: true, now: now)
        var times: [Int64] = []
        for milliseconds in Int64(0)..<20 {
            while pacer.tryConsume(300, now: now + .milliseconds(milliseconds)) { times.append(milliseconds) }
        }
        // 300 bytes take 2.4 ms.
        #expect((8...10).contains(times.count))
        #expect(Set(times).count == times.count)
    }
}
