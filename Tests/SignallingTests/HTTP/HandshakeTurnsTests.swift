import MediaTypes
import Testing

@testable import Signalling

@Suite("Whose TLS handshake is next")
final class HandshakeTurnsTests {
    private var turns = HandshakeTurns(limit: 8, limitOfAddress: 3, timeout: .milliseconds(100))

    /// Adds connections with numbers from `first` on, and begins what may begin.
    private func add(_ count: UInt64, from first: UInt64, of key: String?, now: Int = 0) -> [UInt64] {
        for number in first..<first + count { turns.add(number, of: key) }
        return steps(now)
    }

    private func steps(_ now: Int) -> [UInt64] {
        var begun: [UInt64] = []
        while case .begin(let number) = next(now) { begun.append(number) }
        return begun
    }

    /// The next step at a time in milliseconds.
    private func next(_ now: Int) -> HandshakeTurns.Step? {
        turns.next(now: MonotonicTime(nanoseconds: Int64(now) * 1_000_000))
    }

    @Test("an address has only so many at once, and none on this machine counts")
    func limits() {
        #expect(add(5, from: 1, of: "a") == [1, 2, 3])
        #expect(add(9, from: 10, of: nil) == [10, 11, 12, 13, 14])
        turns.end(2)
        // Those on this machine come first.
        #expect(steps(0) == [15])
    }

    @Test("the address with the fewest goes first")
    func fewest() {
        #expect(add(3, from: 1, of: "a") == [1, 2, 3] && add(3, from: 4, of: "b") == [4, 5, 6])
        #expect(add(2, from: 7, of: "c") == [7, 8] && add(1, from: 9, of: "c").isEmpty)
        #expect(add(1, from: 10, of: "d").isEmpty)
        turns.end(1)
        #expect(steps(0) == [10])
    }

    @Test("if all places are taken, the oldest of the busiest address ends for it, but not at once")
    func stalled() {
        #expect(add(2, from: 1, of: "a") == [1, 2] && add(3, from: 3, of: "b") == [3, 4, 5])
        #expect(add(3, from: 6, of: "c", now: 50) == [6, 7, 8])
        #expect(add(1, from: 9, of: "d", now: 60).isEmpty && next(60) == nil)
        #expect(next(100) == .end(3))
        // One at a time.
        #expect(next(200) == nil)
        turns.end(3)
        #expect(steps(200) == [9])
    }

    @Test("one customer's network of 48 bits can't take all places, whatever addresses it uses")
    func network() {
        turns = HandshakeTurns(limit: 32, limitOfAddress: 3, timeout: .milliseconds(100))
        for number: UInt64 in 1...32 { #expect(add(1, from: number, of: "2001:db8:1:\(number)::1") == [number]) }
        for number: UInt64 in 33...60 { turns.add(number, of: "2001:db8:1:\(number)::1") }
        turns.add(61, of: "2001:db8:2::1")
        #expect(next(1000) == .end(1))
        turns.end(1)
        #expect(next(1000) == .begin(61))
    }

    @Test("nobody ends for an address that has as many")
    func equals() {
        for number: UInt64 in 1...8 { #expect(add(1, from: number, of: "\(number)") == [number]) }
        turns.add(9, of: "1")
        #expect(next(1000) == nil)
        turns.add(10, of: "new")
        #expect(next(1000) == .end(1))
    }
}
