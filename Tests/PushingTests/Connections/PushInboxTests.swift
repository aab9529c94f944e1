import MediaTypes
import Testing
import TrackHub

@testable import Pushing

@Suite("The inbox of a push's thread")
struct PushInboxTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    private func makeInbox() -> PushExchange.Inbox {
        PushExchange.Inbox(inputs: PushExchange.Inputs(source: .nothing))
    }

    private func picture(_ number: UInt64, isKeyFrame: Bool = false) -> TrackFrame {
        let coded = CodedFrame(
            bytes: [0, 0, 0, 1, 0x65], units: [4..<5], isRandomAccess: isKeyFrame, captureTime: nil, format: nil)
        return TrackFrame(number: number, coded: coded, time: MediaTime(ticks: Int64(number)), arrival: .zero)
    }

    /// A step in words; nil if the thread has to wait.
    private func step(
        of inbox: inout PushExchange.Inbox, at milliseconds: Int64 = 0, silenceDue: MonotonicTime = .distantFuture
    ) -> String? {
        switch inbox.next(time(milliseconds), silenceDue: silenceDue) {
        case .frame(let frame): "frame \(frame.number)"
        case .silence(let until): "silence until \((until - time(0)).milliseconds) ms"
        case .end: "end"
        case nil: nil
        }
    }

    @Test("the thread gets all frames in their order, and after the last frame of a closed inbox it ends")
    func end() {
        var inbox = makeInbox()
        for number in UInt64(0)..<2 {
            _ = inbox.add(picture(number, isKeyFrame: number == 0), at: time(0), second: nil, regular: .seconds(3))
        }
        let first = step(of: &inbox)
        inbox.isClosing = true
        let rest = (0..<2).map { _ in step(of: &inbox) }
        #expect(first == "frame 0" && rest == ["frame 1", "end"])
        #expect(!inbox.takesFrames)
        inbox.isClosing = false
        let last = step(of: &inbox)
        #expect(last == nil)
    }

    @Test("pictures that wait are sent before the silence after them")
    func silence() {
        var inbox = makeInbox()
        _ = inbox.add(picture(0, isKeyFrame: true), at: time(100), second: nil, regular: .seconds(3))
        let steps = (0..<2).map { _ in step(of: &inbox, at: 500, silenceDue: time(300)) }
        #expect(steps == ["frame 0", "silence until 500 ms"])
    }

    @Test(
        "a key frame is requested until there is one, and an interval after each; segments need the second sooner",
        arguments: [nil, Interval.seconds(1)])
    func keyFrames(second: Interval?) {
        var inbox = makeInbox()
        func isRequested(at milliseconds: Int64, isKeyFrame: Bool = false) -> Bool {
            let isRequested = inbox.add(
                picture(UInt64(milliseconds), isKeyFrame: isKeyFrame), at: time(milliseconds), second: second,
                regular: .seconds(3))
            // The queue leaves nothing out.
            while step(of: &inbox, at: milliseconds) != nil {}
            return isRequested
        }
        let beforeFirst = isRequested(at: 0)
        let afterFirst =
            [isRequested(at: 100, isKeyFrame: true)] + [1099, 1100, 3099, 3100].map { isRequested(at: $0) }
        #expect(beforeFirst)
        #expect(afterFirst == [false, false, second != nil, second != nil, true])
        let afterSecond = [isRequested(at: 4000, isKeyFrame: true)] + [5000, 6999, 7000].map { isRequested(at: $0) }
        #expect(afterSecond == [false, false, false, true])
    }
}
