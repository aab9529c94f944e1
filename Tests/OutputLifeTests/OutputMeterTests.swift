import MediaTypes
import OutputLife
import Testing

struct OutputMeterTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }
    private func kilobits(_ number: Int) -> BitRate { BitRate(bitsPerSecond: number * 1000) }

    @Test("the status tells what was sent since the last one")
    func rates() {
        var meter = OutputMeter(at: time(0))
        for _ in 0..<90 { meter.sentFrame(isPicture: true, byteCount: 1000) }
        for _ in 0..<150 { meter.sentFrame(isPicture: false, byteCount: 100) }
        let rates = meter.take(at: time(3000))
        #expect(rates.picturesPerSecond == 30 && rates.soundPerSecond == 50)
        #expect(rates.bitRate == kilobits(280))
        let nothing = meter.take(at: time(6000))
        #expect(nothing == OutputMeter.Rates())
        #expect(meter.sentPictures == 90 && meter.sentSound == 150)
        // An encoder of pictures follows what the path carried of pictures alone.
        #expect(meter.sentPictureBytes == 90_000)
    }

    @Test("a network is weak, once, when a fifth of the pictures is missing for three seconds")
    func weak() {
        var meter = OutputMeter(at: time(0))
        func second(_ number: Int64, sent: Int, of given: Int) -> Bool {
            for _ in 0..<given { meter.gave() }
            for _ in 0..<sent { meter.sentFrame(isPicture: true, byteCount: 1) }
            let isEarly = meter.isWeak(at: time(number * 1000 - 1))
            #expect(!isEarly)
            return meter.isWeak(at: time(number * 1000))
        }
        let seconds = [(24, 30), (24, 30), (25, 30), (24, 30), (24, 30), (10, 30), (10, 30), (0, 0), (0, 0)]
        let hints = seconds.enumerated().map { second(Int64($0 + 1), sent: $1.0, of: $1.1) }
        #expect(hints.enumerated().filter(\.element).map(\.offset) == [5])
    }

    @Test("a network that loses a fifth of the packets for three seconds is weak, although each picture was sent")
    func lossy() {
        var meter = OutputMeter(at: time(0))
        var counters = PathCounters(sent: 0, lost: 0, waiting: .milliseconds(30), roundTrip: .milliseconds(20))
        func second(_ number: Int64, lost: Int64, waiting: Int64 = 30) -> Bool {
            meter.gave()
            meter.sentFrame(isPicture: true, byteCount: 1)
            counters.sent += 100
            counters.lost += lost
            counters.waiting = .milliseconds(waiting)
            return meter.isWeak(at: time(number * 1000)) { counters }
        }
        // The first second has nothing to compare with.
        let losses: [Int64] = [90, 20, 19, 25, 20, 150, 0]
        let hints = losses.enumerated().map { second(Int64($0 + 1), lost: $1) }
        #expect(hints == [false, false, false, false, false, true, false])
        #expect(meter.path == OutputMeter.Path())
        _ = second(8, lost: 300, waiting: 460)
        #expect(meter.path.lostShare == 1 && meter.path.excess == .milliseconds(400))
        // The connection is gone.
        let isWeak = meter.isWeak(at: time(9000)) { nil }
        #expect(!isWeak && meter.path == OutputMeter.Path())
    }
}
