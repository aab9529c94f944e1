import CLinux
import Glibc
import MediaTypes
import TestSupport
import Testing

@testable import LinkTransport

@Suite("connections")
struct SocketConnectionTests {
    /// Two connected ends.
    private func ends(limit: Int = SocketConnection.standardLimit) throws -> (SocketConnection, SocketConnection) {
        let pair = try LinkSocketPair(limit: limit)
        return (pair.connection, SocketConnection(adopting: FileDescriptor(owning: duplicate(pair.childDescriptor))))
    }

    private func duplicate(_ number: Int32) -> Int32 { fcntl(number, F_DUPFD_CLOEXEC, 3) }

    /// The error of writing to a peer that has gone: a moment later than it has closed, as
    /// ``SocketConnection/received(into:)``.
    private func failureOfWriting(to connection: SocketConnection) throws -> SocketError {
        try eventually("the peer's end") {
            failure { () throws(SocketError) in try connection.enqueue(header: [1], payload: [2]) }
        }
    }

    /// Everything that can be read now.
    private func drain(_ connection: SocketConnection) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case .bytes(let count) = try connection.receive(into: &buffer) { all += buffer.prefix(count) }
        return all
    }

    @Test("what the peer doesn't take at once waits, and arrives whole and in order")
    func backPressure() throws {
        let (ours, theirs) = try ends()
        let big = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try ours.enqueue(header: [0xAA], payload: big)
        #expect(ours.hasPending)
        #expect(ours.wantsWrite)
        #expect(ours.pendingBytes < big.count)
        try ours.enqueue(header: [0xBB], payload: [1, 2, 3])
        try ours.enqueue(header: [0xCC])
        var got: [UInt8] = []
        try eventually("the whole queue to arrive") {
            got += try drain(theirs)
            return try ours.flush()
        }
        got += try drain(theirs)
        #expect(got == [0xAA] + big + [0xBB, 1, 2, 3, 0xCC])
        #expect(!ours.hasPending)
        #expect(ours.pendingBytes == 0)
    }

    @Test("the memory for what waited is given back once it has left, but for a little")
    func memory() throws {
        var outgoing = OutgoingBytes()
        for size in [100, 200_000, 5_000_000] {
            outgoing.append([UInt8](repeating: 1, count: size))
            outgoing.append([2])
            while !outgoing.isEmpty { outgoing.removeFirst(70_001) }
            #expect(outgoing.capacity <= 256 << 10)
        }
        // A reader that is always a little behind doesn't make it grow.
        outgoing.append([UInt8](repeating: 1, count: 10_000))
        for _ in 0..<2000 {
            outgoing.append([UInt8](repeating: 1, count: 1000))
            outgoing.removeFirst(1000)
        }
        #expect(outgoing.count == 10_000 && outgoing.capacity < 60_000)
    }

    @Test("a message that would pass the limit is refused whole, and earlier ones are not harmed")
    func bounded() throws {
        let (ours, theirs) = try ends(limit: 1_000_000)
        let half = [UInt8](repeating: 7, count: 900_000)
        try ours.enqueue(header: [1], payload: half)
        let error = failure { () throws(SocketError) in try ours.enqueue(header: [2], payload: half) }
        #expect(error == .queueFull(pending: ours.pendingBytes, limit: 1_000_000))
        var got: [UInt8] = []
        try eventually("the first message to arrive") {
            got += try drain(theirs)
            return try ours.flush()
        }
        got += try drain(theirs)
        #expect(got == [1] + half)
        #expect(
            failure { () throws(SocketError) in
                try ours.enqueue(header: [], payload: [UInt8](repeating: 0, count: 1_000_001))
            }?.isRetryable == true)
    }

    @Test("random sizes arrive as they were sent, whoever is faster")
    func random() throws {
        var random = SeededRandom(seed: 3)
        let (ours, theirs) = try ends()
        var sent: [UInt8] = []
        var got: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 40_000)
        for _ in 0..<300 {
            let header = [UInt8](
                repeating: .random(in: 0...255, using: &random), count: .random(in: 0...40, using: &random))
            let body = [UInt8](
                repeating: .random(in: 0...255, using: &random), count: .random(in: 0...30_000, using: &random))
            sent += header + body
            try ours.enqueue(header: header, payload: body)
            if Bool.random(using: &random), case .bytes(let count) = try theirs.receive(into: &buffer) {
                got += buffer.prefix(count)
            }
            if Bool.random(using: &random) { try ours.flush() }
        }
        try eventually("the rest to arrive") {
            got += try drain(theirs)
            return try ours.flush()
        }
        got += try drain(theirs)
        #expect(got == sent)
    }

    @Test("writing to a peer that is gone is an error and no signal")
    func gone() throws {
        let pair = try LinkSocketPair()
        pair.closeChild()
        #expect(try failureOfWriting(to: pair.connection) == .closed)
        #expect(pair.connection.isClosed)
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try pair.connection.received(into: &buffer) == .closed)
        #expect(failure { () throws(SocketError) in try pair.connection.flush() } == .closed)
    }

    @Test("what was written before the peer closed can still be read")
    func lastWords() throws {
        let (ours, theirs) = try ends()
        try ours.enqueue(header: [1, 2, 3])
        ours.close()
        var buffer = [UInt8](repeating: 0, count: 2)
        #expect(try theirs.receive(into: &buffer) == .bytes(2))
        #expect(try theirs.receive(into: &buffer) == .bytes(1))
        #expect(buffer.first == 3)
        #expect(try theirs.received(into: &buffer) == .closed)
    }

    @Test("what the peer sent before it went can still be read after writing to it has failed")
    func lastWordsAfterFailure() throws {
        let (ours, theirs) = try ends()
        try theirs.enqueue(header: [1, 2, 3])
        theirs.close()
        #expect(try failureOfWriting(to: ours) == .closed)
        #expect(ours.isClosed && !ours.wantsWrite)
        // For poll(2): it tells the hang-up, so that nobody forgets to read.
        #expect(ours.descriptor >= 0)
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try ours.receive(into: &buffer) == .bytes(3))
        #expect(try ours.received(into: &buffer) == .closed)
    }

    @Test("a socket that was handed down becomes non-blocking; anything else is refused by name")
    func adopted() throws {
        let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        var numbers: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, stream, 0, &numbers) == 0)
        let other = FileDescriptor(owning: numbers[1])
        let connection = try SocketConnection.connect(to: .descriptor(numbers[0]))
        #expect(fcntl(connection.descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(write(other.rawValue, [5], 1) == 1)
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try connection.receive(into: &buffer) == .bytes(1))

        func refusal(_ number: Int32) -> String? {
            failure { () throws(SocketError) in try SocketConnection.connect(to: .descriptor(number)) }?
                .description
        }
        #expect(refusal(99_999)?.contains("descriptor 99999 can't be used as a capture link: it is not open") == true)
        let file = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
        #expect(refusal(file.rawValue)?.contains("it is no socket") == true)
        let lonely = FileDescriptor(owning: socket(AF_UNIX, stream, 0))
        #expect(refusal(lonely.rawValue)?.contains("isn't connected") == true)
        // A refused descriptor stays open: it is not ours.
        #expect(fcntl(lonely.rawValue, F_GETFD) >= 0)
    }

    @Test("a descriptor is closed when its owner goes, and not when it was given up")
    func descriptors() throws {
        var number: Int32 = -1
        do {
            let null = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
            number = null.release()
        }
        #expect(fcntl(number, F_GETFD) >= 0)
        close(number)
        let pair = try LinkSocketPair()
        let child = pair.childDescriptor
        #expect(fcntl(child, F_GETFD) & FD_CLOEXEC != 0)
        pair.closeChild()
        #expect(pair.childDescriptor == -1)
    }

    @Test("only our own user and root may be on the other end")
    func credentials() throws {
        let pair = try LinkSocketPair()
        let other = FileDescriptor(owning: duplicate(pair.childDescriptor))
        #expect(try PeerCredentials(of: other).user == geteuid())
        try PeerCredentials(user: 1000).check(ourUser: 1000)
        try PeerCredentials(user: 0).check(ourUser: 1000)
        let error = failure { () throws(SocketError) in try PeerCredentials(user: 1001).check(ourUser: 1000) }
        #expect(error == .foreignPeer(peerUser: 1001, ourUser: 1000))
        #expect(error?.kind == .permission)
    }
}
