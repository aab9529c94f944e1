import Glibc
import SecureTransport
import Signalling
import TestSupport
import Testing

@testable import Diagnosis

@Suite("Asking STUN and TURN servers", .enabled(if: TURNServer.isAvailable))
struct ICEServerCheckTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// The findings about a server at a port, `turn:HOST:PORT` with this transport and these credentials.
    private func findings(
        _ port: UInt16, _ scheme: String, _ credentials: ICEServer.Credentials, query: String = ""
    ) throws -> [Finding] {
        var server = try #require(ICEServer("\(scheme):127.0.0.1:\(port)\(query)"))
        server.credentials = credentials
        return ICEServerCheck(server, now: time(nil)).findings()
    }

    @Test("a server that answers and takes the credentials is sound, and gets its addresses back")
    func sound() throws {
        let server = try TURNServer(["--secret", "north"])
        #expect(try findings(server.port, "stun", .none) == [])
        #expect(try findings(server.port, "turn", .secret("north")) == [])
        try eventually("all addresses are freed") {
            let counts = server.counts
            return counts.allocated >= 2 && counts.allocated == counts.freed
        }
        #expect(try findings(server.port, "turn", .secret("north"), query: "?transport=tcp") == [])
        let named = try TURNServer(["--user", "ann:Sesam"])
        #expect(try findings(named.port, "turn", .fixed(user: "ann", password: "Sesam")) == [])
    }

    @Test("a wrong secret is told from a wrong password, and both from a server that can't be reached")
    func wrong() throws {
        let server = try TURNServer(["--secret", "north"])
        for query in ["", "?transport=tcp"] {
            let found = try findings(server.port, "turn", .secret("south"), query: query)
            #expect(found.map(\.id) == ["turn-credentials"])
            #expect(found.first?.line.contains("--ice-secret-file") == true)
        }
        let named = try TURNServer(["--user", "ann:Sesam"])
        let found = try findings(named.port, "turn", .fixed(user: "ann", password: "open"))
        #expect(found.map(\.id) == ["turn-credentials"])
        #expect(found.first?.line.contains("password is wrong") == true)
        let free = try freePort()
        #expect(try findings(free, "turn", .secret("north")).map(\.id) == ["turn-unreachable"])
        #expect(try findings(free, "turn", .secret("north"), query: "?transport=tcp").map(\.id) == ["turn-unreachable"])
        #expect(try findings(free, "stun", .none).map(\.id) == ["stun-unreachable"])
        // It speaks no TLS.
        #expect(try findings(server.port, "turns", .secret("north")).map(\.id) == ["turn-unreachable"])
    }

    @Test("a server that answers without an address refuses that, and is told from one that can't be reached")
    func refused() throws {
        let server = try TURNServer(["--secret", "north", "--full"])
        let address = try findings(server.port, "stun", .none)
        #expect(address.map(\.id) == ["stun-refused"])
        #expect(address.first?.line.contains("486 Allocation Quota Reached") == true)
        let relay = try findings(server.port, "turn", .secret("north"))
        #expect(relay.map(\.id) == ["turn-refused"])
        #expect(relay.first?.line.contains("486 Allocation Quota Reached") == true)
    }

    @Test("a server of TLS whose certificate no authority has signed is named")
    func certificate() throws {
        let certificate = try ServerCertificate.made(names: ["localhost"], addresses: ["127.0.0.1"])
        let file = try folder.write("certificate.pem", Array(certificate.pem.utf8))
        let server = try TURNServer(["--secret", "north", "--tls", file])
        let found = try findings(server.port, "turns", .secret("north"))
        #expect(found.map(\.id) == ["turn-certificate"])
        // Anything but TLS is not affected.
        #expect(try findings(server.port, "turn", .secret("north")) == [])
    }

    @Test(
        "a server whose clock is an hour off tells that ours is, and one that is ten minutes off doesn't",
        arguments: [(3600, "behind"), (-3600, "ahead"), (600, ""), (-600, "")])
    func clock(offset: Int, word: String) throws {
        let server = try TURNServer(["--secret", "north", "--clock", "\(offset)"])
        let found = try findings(server.port, "turn", .secret("north"))
        #expect(found.map(\.id) == (word.isEmpty ? [] : ["clock"]))
        if let line = found.first?.line { #expect(line.contains("30 minutes \(word) ")) }
    }

    @Test("a server that takes credentials of any time says nothing about clocks")
    func anyTime() throws {
        let server = try TURNServer(["--secret", "north", "--any-time"])
        #expect(try findings(server.port, "turn", .secret("north")) == [])
    }
}
