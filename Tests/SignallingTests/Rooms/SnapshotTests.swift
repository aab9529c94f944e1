import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Snapshots")
struct SnapshotTests {
    private let bearer = ["Authorization": "Bearer secret"]
    private static let plainRequest =
        "GET /snapshot.png HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n\r\n"

    @Test("the picture comes as the media side gives it, of the room named or the only one")
    func picture() throws {
        let server = try RunningServer()
        server.media.state.withLock { $0.picture = .success([1, 2, 3]) }
        for path in ["/snapshot.png", "/snapshot.png?room=desk", "/snapshot.png?a=b&room=des%6B"] {
            let answer = try server.request("GET", path, bearer)
            #expect(answer.status == 200)
            #expect(answer.body == [1, 2, 3])
            #expect(answer.headers["content-type"] == "image/png")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
        }
        #expect(try server.request("GET", "/snapshot.jpg", bearer).headers["content-type"] == "image/jpeg")
        #expect(try server.request("POST", "/snapshot.png", bearer, body: "").status == 405)
        // A list of a thousand ranges is answered once, whole.
        let ranges = "bytes=" + Array(repeating: "0-2", count: 1000).joined(separator: ",")
        let whole = try server.request("GET", "/snapshot.png", bearer.merging(["Range": ranges]) { $1 })
        #expect(whole.status == 200)
        #expect(whole.body.count == 3)
    }

    @Test("no picture yet is 503, and a picture that can't be written 500")
    func failures() throws {
        let server = try RunningServer()
        #expect(try server.request("GET", "/snapshot.png", bearer).status == 503)
        server.server.announce(.live, room: "desk")
        try server.server.waitUntilTaken()
        let words = try server.request("GET", "/snapshot.png", bearer).text
        #expect(words.hasPrefix("the source has sent no picture that can be decoded"), "\(words)")
        for (reason, words) in [
            (PauseReason.sharer, "the sharer has paused"), (.screenLocked, "the screen is locked"),
            (.windowHidden, "what is shared isn't on the screen just now"),
        ] {
            server.server.announce(.paused(reason), room: "desk")
            try server.server.waitUntilTaken()
            let answer = try server.request("GET", "/snapshot.png", bearer)
            #expect(answer.status == 503 && answer.text.hasPrefix(words), "\(answer.text)")
        }
        server.media.state.withLock { $0.picture = .failure(.failed("no memory")) }
        let answer = try server.request("GET", "/snapshot.png", bearer)
        #expect(answer.status == 500)
        #expect(answer.text.contains("no memory"))
    }

    @Test("a picture that is long in coming holds up nobody else")
    func waiting() throws {
        let server = try RunningServer {
            $0.limits.snapshots = 1
            $0.limits.snapshotTime = .seconds(60)
        }
        server.media.state.withLock { $0.holdsSnapshots = true }
        let client = try TestSocket(port: server.port)
        try client.send(Self.plainRequest)
        let completion = try eventually("a request") { server.media.state.withLock { $0.waiting.first } }
        #expect(try server.request("GET", "/snapshot.png", bearer).status == 503)
        #expect(try server.request("GET", "/healthz").status == 204)
        completion(.success([7]))
        #expect(try client.response().body == [7])
    }

    @Test("who asks while a picture is made shares the next one, and each track and format has its own")
    func shared() throws {
        let server = try RunningServer()
        server.media.state.withLock { $0.holdsSnapshots = true }
        func ask(_ path: String = "/snapshot.png") throws -> TestSocket {
            let client = try TestSocket(port: server.port)
            try client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n\r\n")
            return client
        }
        func isAsked(_ count: Int) throws {
            try eventually("\(count) requests to the media side") {
                server.media.state.withLock { $0.waiting.count == count }
            }
        }
        let first = try ask()
        try isAsked(1)
        let others = try (0..<20).map { _ in try ask() }
        let jpeg = try ask("/snapshot.jpg")
        try isAsked(2)
        // All of them have come.
        #expect(try server.request("GET", "/healthz").status == 204)
        server.media.state.withLock { $0.waiting[0] }(.success([1]))
        #expect(try first.response().body == [1])
        try isAsked(3)
        server.media.state.withLock { $0.waiting[2] }(.success([2]))
        for client in others { #expect(try client.response().body == [2]) }
        server.media.state.withLock { $0.waiting[1] }(.success([3]))
        #expect(try jpeg.response().body == [3])
        #expect(server.media.state.withLock { $0.waiting.count } == 3)
    }

    @Test("a picture isn't made for clients that are gone")
    func unwanted() throws {
        let server = try RunningServer { $0.limits.handshakeTime = .milliseconds(200) }
        server.media.state.withLock { $0.holdsSnapshots = true }
        do {
            let clients = [try TestSocket(port: server.port), try TestSocket(port: server.port)]
            for client in clients { try client.send(Self.plainRequest) }
            try eventually("a request") { server.media.state.withLock { $0.waiting.count == 1 } }
            #expect(server.media.state.withLock { $0.isWanted[0] }())
        }
        try eventually("the media side to be told") { !server.media.state.withLock { $0.isWanted[0] }() }
        server.media.state.withLock { $0.waiting[0] }(.failure(.noPicture))
        let next = try TestSocket(port: server.port)
        try next.send("GET /snapshot.jpg HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n\r\n")
        try eventually("the next request") { server.media.state.withLock { $0.waiting.count == 2 } }
        server.media.state.withLock { $0.waiting[1] }(.success([5]))
        #expect(try next.response().body == [5])
        // The second of those that are gone was never asked for.
        #expect(server.media.state.withLock { $0.waiting.count } == 2)
    }

    @Test("no more pictures are made while too much is unread, until it has been read or its reader is gone")
    func unread() throws {
        let server = try RunningServer { $0.limits.snapshotBytes = 1 << 20 }
        let file = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        server.media.state.withLock { $0.picture = .success(file) }
        func expectRefused() throws {
            try eventually("a refusal") {
                let client = try TestSocket(port: server.port)
                try client.send(Self.plainRequest)
                let answer = try client.take(through: "\r\n\r\n")
                return answer.hasPrefix("HTTP/1.1 503") && answer.contains("Retry-After: 1")
            }
        }
        func expectAnswered() throws {
            try eventually("an answer") { try server.request("GET", "/snapshot.png", bearer).status == 200 }
        }
        /// A client whose picture has begun to come; where too much is unread from before, it asks again.
        func reader() throws -> TestSocket {
            try eventually("a picture that is begun") {
                let client = try TestSocket(port: server.port)
                try client.send(Self.plainRequest)
                return try client.peek(12) == "HTTP/1.1 200" ? client : nil
            }
        }
        do {
            let slow = try reader()
            try expectRefused()
            #expect(!slow.isAtEnd)
        }
        try expectAnswered()
        let late = try reader()
        try expectRefused()
        #expect(try late.response().body == file)
        try expectAnswered()
    }

    @Test("a picture is waited for so long only")
    func late() throws {
        let server = try RunningServer { $0.limits.snapshotTime = .milliseconds(50) }
        server.media.state.withLock { $0.holdsSnapshots = true }
        let client = try TestSocket(port: server.port)
        try client.send(Self.plainRequest)
        #expect(try client.response().status == 504)
        // Too late, and twice: nothing happens.
        let completion = try #require(server.media.state.withLock { $0.waiting }.first)
        completion(.success([9]))
        completion(.success([9]))
        #expect(try server.request("GET", "/healthz").status == 204)
    }

    @Test("a client that went away while it waited does no harm")
    func abandoned() throws {
        let server = try RunningServer()
        server.media.state.withLock { $0.holdsSnapshots = true }
        do {
            let client = try TestSocket(port: server.port)
            try client.send(Self.plainRequest)
            try eventually("the request") { server.media.state.withLock { $0.waiting.count == 1 } }
        }
        server.media.state.withLock { $0.waiting }.first?(.success([UInt8](repeating: 1, count: 1 << 20)))
        #expect(try server.request("GET", "/healthz").status == 204)
    }

    @Test("the client fetches by the link that viewers open")
    func client() throws {
        let server = try RunningServer()
        let link = "http://127.0.0.1:\(server.port)/#desk,secret"
        let client = SnapshotClient(timeout: 5)
        #expect(throws: SnapshotClientError.noPicture("no picture yet")) {
            try client.fetchSnapshot(link: link, format: .png)
        }
        let file = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        server.media.state.withLock { $0.picture = .success(file) }
        #expect(try client.fetchSnapshot(link: link, format: .jpeg) == file)
        #expect(throws: SnapshotClientError.refused("127.0.0.1:\(server.port)")) {
            try client.fetchSnapshot(link: "http://127.0.0.1:\(server.port)/#desk,wrong", format: .png)
        }
    }

    @Test(
        "what isn't a link, or leads nowhere, is said in one line without the token",
        arguments: [
            "", "desk,secret", "ftp://127.0.0.1/#desk,secret", "http:///#desk,secret",
            "http://127.0.0.1:99999/#desk,secret",
            "http://user@127.0.0.1/#desk,secret", "http://127.0.0.1:1/#desk,secret",
            "http://no-such-host.invalid/#desk,secret",
        ])
    func badLinks(link: String) throws {
        let error = #expect(throws: SnapshotClientError.self) {
            try SnapshotClient(timeout: 5).fetchSnapshot(link: link, format: .png)
        }
        let text = try #require(error).description
        #expect(!text.contains("\n") && !text.contains("secret"))
    }
}
