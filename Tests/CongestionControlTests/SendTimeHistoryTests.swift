import MediaTypes
import Testing

@testable import CongestionControl

struct SendTimeHistoryTests {
    @Test("few packets need few places, and none of the last five seconds is forgotten before there are too many")
    func places() {
        var history = SendTimeHistory()
        var now = MonotonicTime.zero
        func send(_ count: Int, every interval: Interval) {
            for _ in 0..<count {
                now = now + interval
                history.append(byteCount: 100, probe: 0, at: now)
            }
        }
        send(500, every: .seconds(1))
        #expect(history.packet(499) != nil)
        #expect(history.packet(500 - 65) == nil)
        #expect(history.unreportedBytes == 6400)
        send(1000, every: .milliseconds(5))
        #expect((500..<1500).allSatisfy { history.packet($0) != nil })
        send(10_000, every: .microseconds(100))
        let capacity = Int64(SendTimeHistory.capacity)
        #expect(history.packet(history.next - capacity) != nil)
        #expect(history.packet(history.next - capacity - 1) == nil)
        #expect(history.unreportedBytes == 100 * SendTimeHistory.capacity)
        _ = history.report(history.next - 1, .received)
        history.giveUp(before: history.next)
        #expect(history.unreportedBytes == 0)
    }

    @Test("a packet is remembered in 8 bytes, with its time to a microsecond")
    func precision() {
        #expect(MemoryLayout<SendTimeHistory.Place>.stride == 8)
        var history = SendTimeHistory()
        // Around a time at which 32 bits of microseconds wrap.
        let start = MonotonicTime(nanoseconds: (1 << 33) * 1000 - 30_000_000)
        for number in Int64(0)..<60 {
            let time = start + Interval(nanoseconds: number * 1_000_001)
            history.append(byteCount: 1500 + Int(number), probe: 255, at: time)
        }
        for number in Int64(0)..<60 {
            let packet = history.packet(number)
            let sentAt = start + .microseconds(number * 1000 + (number > 0 ? 1 : 0))
            #expect(packet?.sentAt == sentAt && packet?.byteCount == Int32(1500 + number) && packet?.probe == 255)
        }
    }
}
