import MediaTypes
import RTP
import TestSupport
import Testing

struct SequenceAndClockTests {
    @Test("a stream begins below 2^15, whatever the random bits are")
    func firstNumber() {
        #expect(SequenceNumber.first(random: 0xFFFF).rawValue == 0x7FFF)
        #expect(SequenceNumber.first(random: 0x8000).rawValue == 0)
        #expect(SequenceNumber.first(random: 0x1234).rawValue == 0x1234)
    }

    @Test("0 follows 65535 and comes after it")
    func wrap() {
        let last = SequenceNumber(65535)
        #expect(last.next == SequenceNumber(0))
        #expect(last.distance(to: last.next) == 1)
        #expect(last.next.distance(to: last) == -1)
        #expect(SequenceNumber(65530).distance(to: SequenceNumber(4)) == 10)
        #expect(SequenceNumber(4).distance(to: SequenceNumber(65530)) == -10)
        #expect(SequenceNumber(4).advanced(by: -10) == SequenceNumber(65530))
    }

    @Test("unwrapped numbers go on over three turns, with packets out of order at each")
    func unwrapping() {
        var unwrapper = SequenceUnwrapper()
        var random = SeededRandom(seed: 1)
        let start: Int64 = 65000
        #expect(unwrapper.unwrap(SequenceNumber(65000)).rawValue == start)
        var wrong: [Int64] = []
        for base in stride(from: start + 1, to: start + 200_000, by: 8) {
            for number in (base..<(base + 8)).shuffled(using: &random) {
                let unwrapped = unwrapper.unwrap(SequenceNumber(UInt16(truncatingIfNeeded: number)))
                if unwrapped.rawValue != number { wrong.append(number) }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test("a packet from before the first one gets a negative number")
    func beforeTheFirst() {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.unwrap(SequenceNumber(1)).rawValue == 1)
        #expect(unwrapper.unwrap(SequenceNumber(65535)).rawValue == -1)
        #expect(unwrapper.unwrap(SequenceNumber(2)).rawValue == 2)
    }

    @Test("a time stamp is the low 32 bits of the media time plus the session's offset")
    func timestamps() {
        #expect(RTPTimestamp(MediaTime(ticks: 90_000), offset: 5).rawValue == 90_005)
        #expect(RTPTimestamp(MediaTime(ticks: 1 << 32 | 7), offset: .max).rawValue == 6)
        #expect(RTPTimestamp(.max - 1).distance(to: RTPTimestamp(3)) == 5)
        #expect(RTPTimestamp(3).distance(to: RTPTimestamp(.max - 1)) == -5)
    }

    @Test("NTP time counts from 1900 and its fraction in 1/2^32 s")
    func ntp() {
        // One and a half seconds after the start of 1970.
        let clock = NTPClock(unixOffset: .seconds(1))
        let time = clock.time(at: MonotonicTime(nanoseconds: 500_000_000))
        #expect(time == NTPTime(2_208_988_801 << 32 | 0x8000_0000))
        #expect(NTPTime(0x1122_3344_5566_7788).middle32 == 0x3344_5566)
    }

    @Test("a quarter of a second is 0x4000 in the middle 32 bits of NTP time")
    func ntpMiddle() {
        let clock = NTPClock(unixOffset: .seconds(1_700_000_000))
        let early = clock.time(at: MonotonicTime(nanoseconds: 0))
        let late = clock.time(at: MonotonicTime(nanoseconds: 250_000_000))
        #expect(late.middle32 &- early.middle32 == 0x4000)
    }

    @Test("NTP time of a clock before 1970 is 1970, not a trap")
    func clampedClock() {
        let clock = NTPClock(unixOffset: Interval(nanoseconds: .min))
        #expect(clock.time(at: .zero) == NTPTime(2_208_988_800 << 32))
    }
}
