import MediaTypes
import Testing

@testable import Pushing

@Suite("The rhythm of a push on a still screen")
struct StillRhythmTests {
    private let start = MonotonicTime.zero + .seconds(100)

    /// When pictures are asked for in the six seconds after a key frame, each of which comes 5 ms later.
    private func asked(isWatched: Bool, isCoarse: Bool = false) -> [Int64] {
        var rhythm = StillRhythm(isWatched: isWatched, isCoarse: isCoarse, at: start)
        rhythm.came(isKeyFrame: true, at: start - .seconds(10))
        rhythm.came(isKeyFrame: true, at: start)
        var asked: [Int64] = []
        while rhythm.due <= start + .seconds(6) {
            let now = rhythm.due
            asked.append((now - start).milliseconds)
            rhythm.wait(from: now)
            rhythm.came(isKeyFrame: false, at: now + .milliseconds(5))
        }
        return asked
    }

    @Test("who may start to watch gets what players look at soon after a key frame, and little until the next")
    func watched() {
        let times = asked(isWatched: true)
        #expect(times.count { $0 <= 1000 } >= 21)
        let later = times.filter { $0 > 1300 }
        #expect((8...10).contains(later.count))
    }

    @Test("where times are in milliseconds, who may start to watch gets the 41 that players look at there")
    func coarse() {
        let times = asked(isWatched: true, isCoarse: true)
        #expect((41...45).contains(times.count { $0 <= 1000 }))
        #expect((9...11).contains(times.count { $0 > 1000 }))
    }

    @Test("where times are in milliseconds, a key frame follows after two seconds in which the screen stands still")
    func keyFrames() {
        for (isWatched, isCoarse) in [(true, true), (true, false), (false, true)] {
            var rhythm = StillRhythm(isWatched: isWatched, isCoarse: isCoarse, at: start)
            rhythm.came(isKeyFrame: true, at: start - .seconds(10))
            rhythm.came(isKeyFrame: true, at: start)
            var asked: [Int64] = []
            while rhythm.due <= start + .seconds(5) {
                let now = rhythm.due
                let wantsKeyFrame = rhythm.wantsKeyFrame(at: now)
                if wantsKeyFrame { asked.append((now - start).milliseconds) }
                rhythm.wait(from: now)
                // The first time, it doesn't come.
                rhythm.came(isKeyFrame: wantsKeyFrame && asked.count > 1, at: now)
            }
            #expect(asked == (isWatched && isCoarse ? [2000, 2500, 4500] : []))
        }
    }

    @Test("the first viewer of a connection gets the 150 pictures that ffmpeg looks at")
    func first() {
        var rhythm = StillRhythm(isWatched: true, isCoarse: false, at: start)
        rhythm.came(isKeyFrame: true, at: start - .seconds(10))
        rhythm.connected()
        rhythm.came(isKeyFrame: true, at: start)
        var count = 0
        while rhythm.due <= start + .seconds(10) {
            let now = rhythm.due
            if now <= start + .milliseconds(3000) { count += 1 }
            rhythm.came(isKeyFrame: false, at: now)
        }
        #expect(count >= 150)
    }

    @Test("a file gets one in five seconds")
    func file() { #expect(asked(isWatched: false) == [5000]) }

    @Test("a screen that moves is asked for nothing")
    func moving() {
        for isCoarse in [false, true] {
            var rhythm = StillRhythm(isWatched: true, isCoarse: isCoarse, at: start)
            for index in 0..<100 as Range<Int64> {
                let now = start + .milliseconds(33) * index
                if index == 0 { rhythm.came(isKeyFrame: true, at: now - .seconds(10)) }
                rhythm.came(isKeyFrame: index == 0, at: now)
                // Behind a key frame, such a push wants more pictures than 30 a second.
                if !isCoarse || index > 50 { #expect(rhythm.due > now + .milliseconds(33)) }
            }
        }
    }
}
