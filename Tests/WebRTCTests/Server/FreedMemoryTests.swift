import Glibc
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Freed memory")
struct FreedMemoryTests {
    @Test(
        "freed blocks between blocks in use go back to the system once enough sessions have ended",
        // A sanitizer has an allocator of its own.
        .enabled(if: getenv("ASAN_OPTIONS") == nil))
    func fragments() throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        var kept: [UnsafeMutableRawPointer] = []
        defer { for block in kept { free(block) } }
        var pages: [UnsafeMutableRawPointer] = []
        var freed: [UnsafeMutableRawPointer] = []
        for number in 0..<2048 {
            let block = try #require(malloc(4 * page))
            memset(block, 1, 4 * page)
            if number.isMultiple(of: 2) {
                kept.append(block)
            } else {
                let inside = (UInt(bitPattern: block) + UInt(2 * page)) / UInt(page) * UInt(page)
                pages.append(try #require(UnsafeMutableRawPointer(bitPattern: inside)))
                freed.append(block)
            }
        }
        for block in freed { free(block) }
        #expect(residentCount(pages) > pages.count / 2, "glibc keeps them")
        let memory = FreedMemory(after: 3, delay: .milliseconds(1))
        for _ in 0..<3 { memory.sessionEnded() }
        // Other tests may use some of them again.
        try eventually("the memory to be returned") { residentCount(pages) < pages.count / 2 }
    }

    private func residentCount(_ pages: [UnsafeMutableRawPointer]) -> Int {
        pages.count { page in
            var state: UInt8 = 0
            return mincore(page, 1, &state) == 0 && state & 1 != 0
        }
    }

    @Test("a server's ended sessions count, and memory is returned again after as many")
    func sessions() throws {
        let returns = Mutex(0)
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        configuration.freedMemory = FreedMemory(after: 3, delay: .zero) { returns.withLock { $0 += 1 } }
        let server = try MediaServer(configuration, log: .silent)
        defer { server.stop() }
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        let hub = TrackHub(origin: now())
        func joinAndLeave() throws {
            let viewer = try SocketViewer(of: server, watching: hub, at: address)
            server.close(viewer.id)
            try eventually("the end") { viewer.end != nil }
        }
        for round in 1...2 {
            try joinAndLeave()
            try joinAndLeave()
            #expect(returns.withLock { $0 } == round - 1)
            try joinAndLeave()
            try eventually("the return") { returns.withLock { $0 } == round }
        }
    }
}
