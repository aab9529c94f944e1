import Glibc
import MediaSessions
import MediaTypes
import STUN
import TestSupport
import Testing

@testable import WebRTC

@Suite("TCP connections")
struct StreamConnectionsTests {
    /// Connections to a port of 127.0.0.1, and the port.
    private func listen(
        limit: Int = StreamConnections.limit, admission: StreamAdmission? = nil
    ) throws -> (streams: StreamConnections, port: UInt16) {
        guard let listener = StreamListener(bindingTo: TransportAddress(ipv4: 127, 0, 0, 1, port: 0)) else {
            throw FileError(path: "127.0.0.1", errno: errno)
        }
        let descriptor = listener.descriptor
        let port = try #require(TransportAddress(localEndOf: descriptor)?.port)
        let admission = admission ?? StreamAdmission(limit: limit)
        return (StreamConnections(listener, maxLength: 2048, admission: admission), port)
    }

    /// Takes what has come until there are so many connections.
    private func serve(_ streams: StreamConnections, until count: Int, now time: MonotonicTime) throws {
        try eventually("\(count) connections") {
            _ = streams.takeReady(now: time)
            return streams.count == count
        }
    }

    @Test("one address has a bounded number of connections, and the oldest goes that has proved nothing")
    func perAddress() throws {
        let (streams, port) = try listen()
        let start = now()
        var sockets: [StreamSocket] = []
        for number in 0..<StreamConnections.limitPerAddress {
            sockets.append(try StreamSocket(to: port))
            try serve(streams, until: number + 1, now: start + .milliseconds(Int64(number)))
        }
        streams[1]?.session = MediaSessionID(rawValue: 1)
        sockets.append(try StreamSocket(to: port))
        let second = sockets[1]
        try eventually("the second connection's end") {
            _ = streams.takeReady(now: start + .seconds(1))
            second.read()
            return second.isClosed
        }
        #expect(streams.count == StreamConnections.limitPerAddress)
        #expect(streams[1] != nil && streams[2] == nil && streams[3] != nil)

        for number in UInt32(1)...100 { streams[number]?.session = MediaSessionID(rawValue: 1) }
        let refused = try StreamSocket(to: port)
        try eventually("the end of one for which there is no room") {
            _ = streams.takeReady(now: start + .seconds(1))
            refused.read()
            return refused.isClosed
        }
        #expect(streams.count == StreamConnections.limitPerAddress)
    }

    @Test("a few addresses that have all connections make room for another one's, not it for theirs")
    func crowd() throws {
        let (streams, port) = try listen(limit: 20)
        let start = now()
        let stranger = try StreamSocket(to: port, at: 99)
        try serve(streams, until: 1, now: start)
        var crowd: [StreamSocket] = []
        for number in 0..<30 {
            crowd.append(try StreamSocket(to: port, at: UInt8(2 + number % 3)))
            try serve(streams, until: min(number + 2, 20), now: start + .milliseconds(Int64(number)))
        }
        try eventually("the end of those that made room") {
            _ = streams.takeReady(now: start + .seconds(1))
            for socket in crowd { socket.read() }
            return crowd.count(where: \.isClosed) == 11
        }
        stranger.read()
        #expect(!stranger.isClosed && streams.count == 20)
    }

    @Test("a connection that another thread has taken over still counts, and makes room unless it is proved")
    func takenOver() throws {
        let admission = StreamAdmission(limit: 1)
        let (streams, port) = try listen(admission: admission)
        let others = StreamConnections(nil, maxLength: 2048, admission: admission, loop: 1, adopts: true)
        let start = now()
        let first = try StreamSocket(to: port)
        try serve(streams, until: 1, now: start)
        let connection = try #require(streams[1])
        streams.release(connection, to: 1)
        #expect(others.adopt(connection) && others.count == 1 && streams.count == 0)
        #expect(others.deadline == start + StreamConnections.proofTimeout)
        first.write([0, 1, 2])
        try eventually("what has come, in the thread that has it") {
            others.takeReady(now: start).contains { $0.connection === connection && $0.reads }
        }
        #expect(streams.takeReady(now: start).isEmpty && streams.takeSuperfluous().isEmpty)

        let second = try StreamSocket(to: port)
        try serve(streams, until: 1, now: start)
        #expect(streams.takeSuperfluous().map { [Int($0.number), $0.loop] } == [[1, 1]])
        others.remove(connection)
        let proved = try #require(streams[2])
        streams.release(proved, to: 1)
        #expect(others.adopt(proved))
        proved.session = MediaSessionID(rawValue: 1)
        let third = try StreamSocket(to: port)
        try eventually("the end of one for which there is no room") {
            _ = streams.takeReady(now: start)
            third.read()
            return third.isClosed
        }
        second.read()
        #expect(!second.isClosed && streams.count == 0 && streams.takeSuperfluous().isEmpty)
    }

    @Test("of many connections that can be read, few are served at once, and all in turn")
    func turns() throws {
        let (streams, port) = try listen()
        let count = StreamConnections.servedAtOnce * 3
        let sockets = try (0..<count).map { _ in try StreamSocket(to: port) }
        try serve(streams, until: count, now: now())
        for socket in sockets { socket.write([0, 1, 2]) }
        // What is not read stays ready.
        var served: Set<UInt32> = []
        try eventually("a turn of each connection") {
            let ready = streams.takeReady(now: now())
            #expect(ready.count <= StreamConnections.servedAtOnce + count / 4)
            served.formUnion(ready.filter(\.reads).map(\.connection.path.peer.connection))
            return served.count == count
        }
    }

    @Test("a connection has 5 s to prove itself, and may then be silent for 60 s")
    func timeout() throws {
        let (streams, port) = try listen()
        let start = now()
        #expect(streams.deadline == .distantFuture)
        let sockets = try (0..<2).map { _ in try StreamSocket(to: port) }
        try serve(streams, until: 2, now: start)
        #expect(streams.deadline == start + .seconds(5))
        streams[2]?.session = MediaSessionID(rawValue: 1)
        streams[2]?.heardAt = start + .seconds(4)
        #expect(streams.takeExpired(now: start + .seconds(5) - .milliseconds(1)).isEmpty)
        let late = streams.takeExpired(now: start + .seconds(5))
        #expect(late.map(\.path.peer.connection) == [1])
        for connection in late { streams.remove(connection) }
        #expect(streams.deadline == start + .seconds(64))
        let silent = streams.takeExpired(now: start + .seconds(64))
        #expect(silent.map(\.path.peer.connection) == [2])
        for connection in silent { streams.remove(connection) }
        #expect(streams.count == 0 && streams.deadline == .distantFuture)
        #expect(sockets.count == 2)
    }

    @Test("what a reader doesn't take waits up to a limit, what is beyond is lost whole, and the rest arrives in order")
    func backlog() throws {
        let (streams, port) = try listen()
        let reader = try StreamSocket(to: port, buffer: 4096)
        try serve(streams, until: 1, now: now())
        let count = 4000
        var heldBack = 0
        for number in 0..<count {
            let datagram = [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 7, count: 1000)
            if !streams.send(datagram, over: 1) { heldBack += 1 }
        }
        #expect(heldBack > 0)
        var received: [Int] = []
        try eventually("all that was kept") {
            while let datagram = reader.receive() {
                #expect(datagram.count == 1002 && datagram[2...].allSatisfy { $0 == 7 })
                received.append(Int(datagram[0]) << 8 | Int(datagram[1]))
            }
            return streams.takeReady(now: now()).contains { $0.isDrained }
        }
        // There is room again.
        _ = streams.send([1, 2, 3], over: 1)
        try eventually("what was sent last") {
            _ = streams.takeReady(now: now())
            while let datagram = reader.receive() {
                if datagram == [1, 2, 3] { return true }
                received.append(Int(datagram[0]) << 8 | Int(datagram[1]))
            }
            return false
        }
        #expect(received == Array(0..<received.count), "they are lost at the end, and whole")
        #expect(received.count < count && received.count * 1004 > StreamConnection.backlogLimit / 2)
    }
}
