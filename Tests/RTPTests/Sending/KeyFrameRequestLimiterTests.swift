import MediaTypes
import RTP
import Testing

struct KeyFrameRequestLimiterTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("the first request is served at once, those that keep coming ever more rarely, down to one in 30 s")
    func spacing() {
        var limiter = KeyFrameRequestLimiter()
        var served: [Int64] = []
        for milliseconds in stride(from: Int64(0), to: 130_000, by: 100) {
            if limiter.pictureLossIndicated(at: time(milliseconds)) { served.append(milliseconds / 1000) }
        }
        #expect(served == [0, 2, 6, 14, 30, 60, 90, 120])
    }

    @Test("a server's requests are served every 2 s, however long they keep coming")
    func server() {
        var limiter = KeyFrameRequestLimiter(isOfServer: true)
        var served: [Int64] = []
        for milliseconds in stride(from: Int64(0), to: 20_000, by: 100) {
            if limiter.pictureLossIndicated(at: time(milliseconds)) { served.append(milliseconds / 1000) }
        }
        #expect(served == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
    }

    @Test("30 s without a request begin anew")
    func quiet() {
        var limiter = KeyFrameRequestLimiter()
        for second in 0..<20 { _ = limiter.pictureLossIndicated(at: time(Int64(second) * 1000)) }
        #expect(limiter.pictureLossIndicated(at: time(49_000)) == true)
        #expect(limiter.pictureLossIndicated(at: time(50_999)) == false)
        #expect(limiter.pictureLossIndicated(at: time(51_000)) == true)
    }

    @Test("a request that had to wait is served when its time comes, without being asked again")
    func waiting() {
        var limiter = KeyFrameRequestLimiter()
        #expect(limiter.pictureLossIndicated(at: time(0)) == true)
        #expect(limiter.pictureLossIndicated(at: time(500)) == false)
        #expect(limiter.deadline == time(2000))
        #expect(limiter.poll(at: time(1999)) == false)
        #expect(limiter.poll(at: time(2000)) == true)
        #expect(limiter.poll(at: time(2001)) == false)
        #expect(limiter.deadline == nil)
    }

    @Test("an IDR picture sent for another viewer answers what waits")
    func answered() {
        var limiter = KeyFrameRequestLimiter()
        #expect(limiter.pictureLossIndicated(at: time(0)) == true)
        #expect(limiter.pictureLossIndicated(at: time(500)) == false)
        limiter.keyFrameSent()
        #expect(limiter.deadline == nil)
        #expect(limiter.poll(at: time(5000)) == false)
    }

    @Test("a full intra request that is repeated with its number is one request")
    func repeatedOrder() {
        var limiter = KeyFrameRequestLimiter()
        #expect(limiter.takeOrder(sender: SSRC(1), sequenceNumber: 255) == true)
        #expect(limiter.takeOrder(sender: SSRC(1), sequenceNumber: 255) == false)
        #expect(limiter.takeOrder(sender: SSRC(1), sequenceNumber: 0) == true)
        #expect(limiter.takeOrder(sender: SSRC(2), sequenceNumber: 0) == true)
        #expect(limiter.takeOrder(sender: SSRC(2), sequenceNumber: 0) == false)
    }
}
