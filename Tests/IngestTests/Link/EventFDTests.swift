import Glibc
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Wake-ups")
struct EventFDTests {
    @Test("signals before they are consumed are written once")
    func together() throws {
        let wake = try #require(EventFD())
        for _ in 0..<3 { wake.signal() }
        var count: UInt64 = 0
        #expect(read(wake.descriptor, &count, 8) == 8)
        #expect(count == 1)
        wake.consume()
        wake.signal()
        #expect(read(wake.descriptor, &count, 8) == 8)
        #expect(count == 1)
    }

    @Test("no signal is lost while others are consumed")
    func races() throws {
        let wake = try #require(EventFD())
        let sent = Mutex(0)
        let seen = Mutex(0)
        let total = 100_000
        let receiver = try #require(
            NamedThread("receiver") {
                while seen.withLock({ $0 }) < total {
                    wake.wait()
                    let now = sent.withLock { $0 }
                    seen.withLock { $0 = now }
                }
            })
        let senders = try (0..<2).map { _ in
            try #require(
                NamedThread("sender") {
                    for _ in 0..<total / 2 {
                        sent.withLock { $0 += 1 }
                        wake.signal()
                    }
                })
        }
        for sender in senders { sender.join() }
        try eventually("the last signal", holds: { seen.withLock { $0 } == total })
        receiver.join()
    }
}
