import CaptureLink
import MediaTypes
import Recording
import Testing

@Suite("IDR pictures for a recording")
struct RecordedKeyFramesTests {
    private func second(_ seconds: Int64) -> MonotonicTime { .zero + .seconds(seconds) }

    /// The seconds at which an IDR picture is asked for, where a picture comes each second and the one behind a request
    /// is an IDR.
    private func requests(seconds: Range<Int64>, showsChange: (Int64) -> Bool) -> [Int64] {
        var keyFrames = RecordedKeyFrames()
        var isIDR = true
        var asked: [Int64] = []
        for time in seconds {
            isIDR = keyFrames.recorded(isRandomAccess: isIDR, showsChange: showsChange(time), at: second(time))
            if isIDR { asked.append(time) }
        }
        return asked
    }

    @Test("while pictures change, one is asked for when the last is ten seconds old")
    func changing() {
        #expect(requests(seconds: 0..<60) { _ in true } == [10, 21, 32, 43, 54])
    }

    @Test("a screen that stands still gets none, and one that changes again gets one at once")
    func still() {
        #expect(requests(seconds: 0..<600) { _ in false }.isEmpty)
        #expect(requests(seconds: 0..<120) { $0 >= 100 } == [100, 111])
    }

    @Test("an IDR picture that came for another reason counts, and so does a request that was not met yet")
    func others() {
        var keyFrames = RecordedKeyFrames()
        func add(isIDR: Bool, _ time: Int64) -> Bool {
            keyFrames.recorded(isRandomAccess: isIDR, showsChange: true, at: second(time))
        }
        // A recording that doesn't begin with one waits as long for the first.
        #expect(!add(isIDR: false, 0))
        #expect(!add(isIDR: true, 9))
        #expect(!add(isIDR: false, 18))
        #expect(add(isIDR: false, 19))
        #expect(!add(isIDR: false, 28))
        #expect(add(isIDR: false, 29))
    }

    @Test("of messages each picture's first slice counts, and the notice in front of it says whether it shows a change")
    func messages() {
        var keyFrames = RecordedKeyFrames(period: .seconds(1))
        func add(_ message: LinkMessage, _ time: Int64) -> Bool { keyFrames.recorded(message, at: second(time)) }
        func notice(_ width: Int) -> LinkMessage {
            .picture(
                PictureNotice(sequenceNumber: 0, damage: PixelRectangle(x: 0, y: 0, width: width, height: width)))
        }
        func nalUnit(_ header: UInt8) -> LinkMessage { .unit([0, 0, 0, 1, header, 0x88]) }
        // An IDR picture asks for no other, though its notice stands before it.
        #expect(![notice(16), nalUnit(0x67), nalUnit(0x68), nalUnit(0x65)].contains { add($0, 10) })
        #expect(![notice(0), nalUnit(0x41)].contains { add($0, 20) })
        #expect(![notice(16), .size(PictureSize(width: 16, height: 16)), nalUnit(0x06)].contains { add($0, 30) })
        #expect(add(nalUnit(0x41), 30))
        #expect(!add(nalUnit(0x41), 40))
        #expect(!add(.unit([]), 50))
    }
}
