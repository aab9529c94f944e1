import MediaTypes
import RTP
import TestSupport
import Testing

struct ArrivalClockTests {
    private let start = MonotonicTime.zero + .seconds(1000)

    private func stamp(_ milliseconds: Int64) -> RTPTimestamp {
        RTPTimestamp(UInt32(truncatingIfNeeded: 4_294_900_000 + milliseconds * 90))
    }

    @Test("the network's jitter is not in the times: they keep the time stamps' distances, over the wrap")
    func jitter() {
        var clock = ArrivalClock(.video)
        var random = SeededRandom(seed: 1)
        var times: [MonotonicTime] = []
        for picture in Int64(0)..<600 {
            let delay = picture == 0 ? 5 : Int64.random(in: 5...60, using: &random)
            let arrival = start + .milliseconds(picture * 33 + delay)
            let time = clock.time(of: stamp(picture * 33), arrival: arrival)
            #expect(time <= arrival)
            times.append(time)
        }
        for (earlier, later) in zip(times, times.dropFirst()) {
            let off = later - earlier - .milliseconds(33)
            #expect(off > .milliseconds(-2) && off < .milliseconds(2))
        }
    }

    @Test("a first packet that came slowly is corrected by the quick ones after it")
    func slowStart() {
        var clock = ArrivalClock(.video)
        #expect(clock.time(of: stamp(0), arrival: start + .milliseconds(200)) == start + .milliseconds(200))
        #expect(clock.time(of: stamp(33), arrival: start + .milliseconds(43)) == start + .milliseconds(43))
        let next = clock.time(of: stamp(66), arrival: start + .milliseconds(180))
        #expect(abs((next - start - .milliseconds(76)).nanoseconds) < 1000)
    }

    @Test("a clock that runs slower or faster is followed", arguments: [-200, 200] as [Int64])
    func drift(partsPerMillion: Int64) {
        var clock = ArrivalClock(.video)
        var worst = Interval.zero
        for picture in Int64(0)..<6000 {
            let elapsed = picture * 33_333
            let arrival = start + .microseconds(elapsed + 5000)
            let ticks = (elapsed + elapsed * partsPerMillion / 1_000_000) * 9 / 100
            let time = clock.time(of: RTPTimestamp(UInt32(truncatingIfNeeded: ticks)), arrival: arrival)
            if picture > 600 { worst = max(worst, arrival - time) }
        }
        // 200 s at 200 ppm make 40 ms; ten seconds of it 2 ms.
        #expect(worst < .milliseconds(5))
    }

    @Test("a stream whose time stamps jump goes on with its arrival")
    func jumps() {
        var clock = ArrivalClock(.video)
        _ = clock.time(of: RTPTimestamp(1000), arrival: start)
        for (timestamp, second) in [(900_000_000, 1), (5, 2), (3_000_000_000, 3), (0, 7000)] as [(UInt32, Int64)] {
            let arrival = start + .seconds(second)
            #expect(clock.time(of: RTPTimestamp(timestamp), arrival: arrival) == arrival)
        }
    }

    @Test("a report, which isn't delayed by coding, makes the times earlier; an absurd one doesn't")
    func report() {
        var clock = ArrivalClock(.video)
        func report(_ milliseconds: Int64) -> SenderReport {
            SenderReport(
                ssrc: SSRC(1), ntpTime: NTPTime(0), rtpTimestamp: stamp(milliseconds), packetCount: 0, octetCount: 0)
        }
        #expect(clock.time(of: stamp(0), arrival: start + .milliseconds(50)) == start + .milliseconds(50))
        clock.note(report(20), arrival: start + .milliseconds(30))
        clock.note(report(500_000), arrival: start + .milliseconds(40))
        let time = clock.time(of: stamp(33), arrival: start + .milliseconds(80))
        #expect(abs((time - start - .milliseconds(43)).nanoseconds) < 1000)
    }

    @Test("reports that are ahead of the pictures hold for longer than one window, without a step to and fro")
    func reportsAndPictures() {
        var clock = ArrivalClock(.video)
        var times: [Interval] = []
        for picture in Int64(0)..<2000 {
            // Coding and pacing take 80 ms, the way takes 10; a report comes every second.
            let sent = picture * 33
            let time = clock.time(of: stamp(sent), arrival: start + .milliseconds(sent + 90))
            if picture > 60 { times.append(time - start - .milliseconds(sent)) }
            if picture % 30 == 0 {
                clock.note(
                    SenderReport(
                        ssrc: SSRC(1), ntpTime: NTPTime(0), rtpTimestamp: stamp(sent + 5), packetCount: 0,
                        octetCount: 0),
                    arrival: start + .milliseconds(sent + 15))
            }
        }
        #expect(times.allSatisfy { $0 > .milliseconds(8) && $0 < .milliseconds(12) })
    }

    @Test("any time stamps at any times are placed no later than they came")
    func random() {
        var clock = ArrivalClock(.video)
        var random = SeededRandom(seed: 5)
        var arrival = start
        for _ in 0..<20_000 {
            arrival = arrival + .microseconds(Int64.random(in: 0..<1_000_000, using: &random))
            let timestamp = RTPTimestamp(UInt32.random(in: .min ... .max, using: &random))
            if Bool.random(using: &random) {
                let time = clock.time(of: timestamp, arrival: arrival)
                #expect(time <= arrival && arrival - time <= .seconds(2))
            } else {
                clock.note(
                    SenderReport(
                        ssrc: SSRC(1), ntpTime: NTPTime(0), rtpTimestamp: timestamp, packetCount: 0, octetCount: 0),
                    arrival: arrival)
            }
        }
    }
}
