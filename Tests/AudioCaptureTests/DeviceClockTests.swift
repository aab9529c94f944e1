import MediaTypes
import TestSupport
import Testing

@testable import AudioCapture

@Suite("A device's clock")
struct DeviceClockTests {
    /// A device with a clock of its own, whose reports jitter.
    private struct Device {
        var rate: Double
        var random = SeededRandom(seed: 7)
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

        func time(of position: Int64) -> MonotonicTime {
            start + Interval(nanoseconds: Int64(Double(position) / 48_000 * (1 + rate) * 1e9))
        }

        mutating func report(_ position: Int64) -> MonotonicTime {
            time(of: position) + Interval(nanoseconds: Int64.random(in: -500_000...500_000, using: &random))
        }
    }

    @Test(
        "is known to half a millisecond after 5 s, however far off and in spite of jitter",
        arguments: [0, 200e-6, -200e-6, 400e-6])
    func drift(rate: Double) {
        var device = Device(rate: rate)
        var clock = DeviceClock()
        var worst = 0.0
        for index in 0..<3000 {
            let position = Int64(index) * 480
            let outcome = clock.observe(position, at: device.report(position))
            if (outcome == .restarted) != (index == 0) { Issue.record("\(outcome) at \(index)") }
            guard index >= 500 else { continue }
            worst = max(worst, abs((clock.time(of: Double(position)) - device.time(of: position)).seconds))
        }
        #expect(worst < 0.5e-3)
        #expect(abs(clock.rate - rate) < 30e-6)
    }

    @Test("isn't moved by reports that are late for seconds, and believes those that stay so", arguments: [4, 9])
    func late(milliseconds: Int64) {
        var device = Device(rate: 100e-6)
        var clock = DeviceClock()
        func error(_ position: Int64) -> Interval { clock.time(of: Double(position)) - device.time(of: position) }
        // Four a second, as they come.
        var position: Int64 = 0
        func observe(seconds: Int, late: Interval) {
            for _ in 0..<seconds * 4 {
                position += 12_000
                #expect(clock.observe(position, at: device.report(position) + late) != .far)
            }
        }
        observe(seconds: 8, late: .zero)
        for _ in 0..<3 {
            observe(seconds: 6, late: .milliseconds(milliseconds))
            #expect(abs(error(position).seconds) < 1e-3)
            #expect(abs(clock.rate) < 250e-6)
            observe(seconds: 1, late: .zero)
        }
        observe(seconds: 16, late: .milliseconds(milliseconds))
        #expect(abs((error(position) - .milliseconds(milliseconds)).seconds) < 1e-3)
    }

    @Test("isn't moved by a report that is far away, and starts again where samples are missing")
    func gap() {
        var device = Device(rate: 100e-6)
        var clock = DeviceClock()
        func error(_ position: Int64) -> Double {
            abs((clock.time(of: Double(position)) - device.time(of: position)).seconds)
        }
        for index in 0..<1000 { _ = clock.observe(Int64(index) * 480, at: device.report(Int64(index) * 480)) }
        #expect(clock.observe(480_000, at: device.time(of: 480_000) + .milliseconds(45)) == .followed)
        #expect(clock.observe(480_480, at: device.time(of: 480_480) - .milliseconds(200)) == .far)
        #expect(error(480_480) < 0.5e-3)

        let later = Interval.milliseconds(300)
        let outcomes = (1002..<1006).map { index in
            clock.observe(Int64(index) * 480, at: device.time(of: Int64(index) * 480) + later)
        }
        #expect(outcomes == [.far, .restarted, .followed, .followed])
        let position: Int64 = 1006 * 480
        #expect(abs((clock.time(of: Double(position)) - device.time(of: position) - later).seconds) < 1e-3)
    }
}
