import Testing
import Threading

@testable import Signalling

@Suite("Failed attempts")
struct FailedAttemptsTests {
    @Test("an address may be wrong twenty times at once and once a second after that")
    func limited() {
        var attempts = FailedAttempts()
        for _ in 0..<20 {
            #expect(attempts.mayTry("10.0.0.1", now: 100))
            attempts.note("10.0.0.1", now: 100)
        }
        #expect(!attempts.mayTry("10.0.0.1", now: 100))
        #expect(attempts.mayTry("10.0.0.2", now: 100))
        #expect(attempts.mayTry("10.0.0.1", now: 101))
        attempts.note("10.0.0.1", now: 101)
        #expect(!attempts.mayTry("10.0.0.1", now: 101))
        #expect(attempts.mayTry("10.0.0.1", now: 200))
    }

    @Test("an IPv6 network of 64 bits counts as one, and IPv4 by itself however it is written")
    func keys() {
        #expect(ClientAddress.key("2001:db8::1") == ClientAddress.key("2001:db8:0:0:ffff::9"))
        #expect(ClientAddress.key("2001:db8::1") != ClientAddress.key("2001:db8:0:1::1"))
        #expect(ClientAddress.key("::ffff:10.0.0.1") == "10.0.0.1")
        // Every machine of a network has an address in the same link-local /64.
        #expect(ClientAddress.key("fe80::1%eth0") == ClientAddress.key("fe80::1"))
        #expect(ClientAddress.key("fe80::1%eth0") != ClientAddress.key("fe80::2"))
        #expect(ClientAddress.key("10.0.0.1") == "10.0.0.1")
    }

    @Test(
        "loopback is recognized in each way of writing it, and nothing else is",
        arguments: [
            ("127.0.0.1", true), ("127.9.8.7", true), ("::1", true), ("::ffff:127.0.0.1", true), ("localhost", true),
            ("LocalHost", true), ("127.example", false), ("::ffff:10.0.0.1", false), ("192.0.2.1", false),
            ("localhost.example", false), ("", false),
        ])
    func loopback(host: String, isLoopback: Bool) {
        #expect(Loopback.contains(host) == isLoopback)
        let inURL = host.contains(":") ? "[\(host)]" : host
        for authority in [inURL, inURL + ":8080", "user:127.0.0.1@" + inURL] {
            #expect(Loopback.contains(authority: authority[...]) == isLoopback, "\(authority)")
        }
    }

    @Test("one customer's network of 48 bits may be wrong eight times as often, however many addresses it uses")
    func network() {
        var attempts = FailedAttempts()
        let within = (0..<160).count { attempts.note("2001:db8:7:\(String($0, radix: 16))::1", now: 100) }
        #expect(within == 160)
        #expect(!attempts.mayTry("2001:db8:7:ffff::1", now: 100) && attempts.mayTry("2001:db8:8::1", now: 100))
        #expect(attempts.mayTry("2001:db8:7:ffff::1", now: 101))
        #expect(ClientAddress.networkKey("fe80::1%eth0") == nil && ClientAddress.networkKey("::ffff:10.0.0.1") == nil)
    }

    @Test("the memory is bounded, and those that were wrong often are not forgotten for it")
    func bounds() {
        var attempts = FailedAttempts()
        for _ in 0..<40 { attempts.note("192.0.2.1", now: 5) }
        for number in 0..<5000 { attempts.note("10.0.\(number >> 8).\(number & 255)", now: 5) }
        #expect(attempts.count <= FailedAttempts.capacity && !attempts.mayTry("192.0.2.1", now: 5))
    }
}
