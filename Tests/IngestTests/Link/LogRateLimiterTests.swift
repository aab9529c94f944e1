import MediaTypes
import Synchronization
import Testing

@testable import Threading

@Suite("The lines that peers cause in the log")
struct LineBudgetTests {
    private final class Written: Sendable {
        let lines = Mutex<[String]>([])
        var count: Int { lines.withLock { $0.count } }
        func count(of line: String) -> Int { lines.withLock { $0.count { $0 == line } } }
    }

    private let written = Written()
    private let budget: LogRateLimiter
    private let start = MonotonicTime.zero + .seconds(1_000)

    init() {
        budget = LogRateLimiter(EventLog { [written] _, line in written.lines.withLock { $0.append(line) } })
    }

    private func write(_ line: String, _ times: Int = 1, of address: String, at time: MonotonicTime? = nil) {
        for _ in 0..<times { budget.write(line, .info, of: address, now: time ?? start) }
    }

    @Test("each address may cause 50 lines at once and 5 a second after that, whatever the others cause")
    func eachAddress() {
        write("a", 1_000, of: "192.0.2.1")
        #expect(written.count(of: "a") == 50)
        write("b", of: "192.0.2.2")
        #expect(written.count(of: "b") == 1)
        write("a", 1_000, of: "192.0.2.1", at: start + .seconds(1))
        #expect(written.count(of: "a") == 55)
        // All addresses of a /64 count as one.
        for number in 0..<100 { write("c", of: "2001:db8:0:7::\(number)") }
        #expect(written.count(of: "c") == 50)
    }

    @Test("a peer with any number of addresses can't cause unlimited lines or use up the memory")
    func allAddresses() {
        for number in 0..<20_000 { write("a", 2, of: "2001:db8:\(String(number, radix: 16))::1") }
        #expect(written.count(of: "a") == 500)
        write("b", of: "192.0.2.1", at: start + .seconds(1))
        #expect(written.count(of: "b") == 1)
        var rate = AddressRateLimiter(perSecond: 10, burst: 5)
        for number in 0..<10_000 { _ = rate.take("10.1.\(number >> 8).\(number & 255)", now: start) }
        #expect(rate.count <= AddressRateLimiter.capacity)
    }

    @Test("addresses of one IPv6 network of 48 bits have eight times the rate of one, and many others hide nobody")
    func networks() {
        var rate = AddressRateLimiter(perSecond: 10, burst: 5)
        func taken(_ count: Int, of network: String) -> Int {
            (0..<count).count { rate.take("2001:db8:\(network):\(String($0, radix: 16))::1", now: start) }
        }
        #expect(taken(100, of: "1") == 40 && taken(1, of: "2") == 1)
        let own = (0..<5).count { _ in rate.take("192.0.2.1", now: start) }
        for number in 0..<10_000 { _ = rate.take("10.1.\(number >> 8).\(number & 255)", now: start) }
        let more = rate.take("192.0.2.1", now: start)
        #expect(own == 5 && !more)
    }

    @Test("lines that are left out are counted, and reported once in 5 s")
    func report() {
        write("a", 80, of: "192.0.2.1")
        budget.reportWithheld(now: start + .seconds(4))
        #expect(written.count == 50)
        budget.reportWithheld(now: start + .seconds(5))
        budget.reportWithheld(now: start + .seconds(5))
        #expect(written.count == 51)
        #expect(written.count(of: "30 more lines like those before were left out") == 1)
    }

    @Test("a line is cut at 200 characters, even if it is a few letters with thousands of accents")
    func cut() {
        write(String(repeating: "x", count: 200), of: "192.0.2.1")
        write(String(repeating: "y", count: 201), of: "192.0.2.1")
        write("z" + String(repeating: "\u{301}", count: 5_000), of: "192.0.2.1")
        let lines = written.lines.withLock { $0 }
        #expect(lines.map(\.unicodeScalars.count) == [200, 200, 200])
        #expect(lines[0].allSatisfy { $0 == "x" } && lines[1].last == "…")
        // What no peer has caused is written in full.
        budget.own.info(String(repeating: "x", count: 5_000))
        #expect(written.lines.withLock { $0.last?.count } == 5_000)
    }

    @Test("an address may send a burst after a quiet time, and then goes on at its rate")
    func rate() {
        var rate = AddressRateLimiter(perSecond: 10, burst: 5)
        func taken(_ count: Int, _ address: String, after wait: Interval) -> Int {
            (0..<count).count { _ in rate.take(address, now: start + wait) }
        }
        #expect(taken(8, "10.0.0.1", after: .zero) == 5)
        #expect(taken(1, "10.0.0.2", after: .zero) == 1)
        #expect(taken(3, "10.0.0.1", after: .milliseconds(100)) == 1)
        #expect(taken(8, "10.0.0.1", after: .seconds(10)) == 5)
    }
}
