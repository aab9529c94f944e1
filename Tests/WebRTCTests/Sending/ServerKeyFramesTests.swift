import MediaTypes
import Testing

@testable import WebRTC

@Suite("When the host answers a server's requests for key frames")
struct ServerKeyFramesTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a source that has been asked has 200 ms; then the host answers, again and again until a key frame begins")
    func slowSource() {
        var policy = ServerKeyFrames()
        #expect(policy.takeDue(at: time(0)) == false)
        policy.requested(asksSource: true, at: time(0))
        #expect(policy.deadline == time(200))
        // Another request changes nothing: the next key frame answers both.
        policy.requested(asksSource: false, at: time(100))
        #expect(policy.takeDue(at: time(199)) == false)
        #expect(policy.takeDue(at: time(200)) == true)
        #expect(policy.takeDue(at: time(249)) == false)
        #expect(policy.takeDue(at: time(250)) == true)
        policy.keyFrameBegan(at: time(270))
        #expect(policy.takeDue(at: time(300)) == false)
        #expect(policy.deadline == nil)
    }

    @Test("where the source may not be asked, the host answers at once, but not within 300 ms of a key frame")
    func spacing() {
        var policy = ServerKeyFrames()
        policy.requested(asksSource: false, at: time(0))
        #expect(policy.takeDue(at: time(0)) == true)
        policy.keyFrameBegan(at: time(60))
        policy.requested(asksSource: false, at: time(100))
        #expect(policy.deadline == time(360))
        policy.keyFrameBegan(at: time(360))
        policy.requested(asksSource: false, at: time(1000))
        #expect(policy.deadline == time(1000))
    }

    @Test("a request that was sent before the last key frame arrived is answered by it")
    func crossing() {
        var policy = ServerKeyFrames()
        #expect(!policy.isAnswered(at: time(0), roundTripTime: .milliseconds(50)))
        policy.keyFrameBegan(at: time(0))
        #expect(policy.isAnswered(at: time(49), roundTripTime: .milliseconds(50)))
        #expect(!policy.isAnswered(at: time(50), roundTripTime: .milliseconds(50)))
        #expect(!policy.isAnswered(at: time(0), roundTripTime: .zero))
    }

    @Test("a request that nobody can answer is given up after 2 s")
    func expiry() {
        var policy = ServerKeyFrames()
        policy.requested(asksSource: false, at: time(0))
        var count = 0
        for milliseconds in stride(from: Int64(0), to: 5_000, by: 10) where policy.takeDue(at: time(milliseconds)) {
            count += 1
        }
        #expect(count == 40 && policy.deadline == nil)
        policy.requested(asksSource: true, at: time(6_000))
        policy.giveUp()
        #expect(policy.deadline == nil)
    }
}
