import CBench
import Glibc

/// A connection over TCP, which ends with the last reference to it.
///
/// While it is opened, its methods block the calling thread, for at most ten seconds each. Then it is given to the
/// thread that has all viewers, which doesn't block.
final class StreamConnection: Sendable {
    /// The seconds that each step of the opening may take.
    private static let timeout: Int32 = 10
    private static let answerLimit = 256 * 1024

    let descriptor: Int32
    private let authority: String

    /// - Throws: ``BenchFailure`` if nothing answers at the address.
    init(to address: WHEPAddress) throws(BenchFailure) {
        let descriptor = cbench_tcp(address.host, address.port, Self.timeout)
        guard descriptor >= 0 else { throw .system("connecting to \(address.authority)") }
        self.descriptor = descriptor
        authority = address.authority
    }

    deinit {
        close(descriptor)
    }

    /// Sends all bytes.
    func send(_ text: String) throws(BenchFailure) { try send(Array(text.utf8)) }

    /// Sends all bytes.
    func send(_ bytes: [UInt8]) throws(BenchFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw .system("sending to \(authority)") }
            rest = rest.dropFirst(count)
        }
    }

    /// The head of an answer, without the empty line that ends it. Nothing behind that is read, so that what follows
    /// is left for the other thread.
    func head() throws(BenchFailure) -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard head.count < Self.answerLimit else { throw BenchFailure("\(authority) sends no end of its answer") }
            head += try bytes(1)
        }
        return String(decoding: head.dropLast(4), as: UTF8.self)
    }

    /// The next `count` bytes.
    func bytes(_ count: Int) throws(BenchFailure) -> [UInt8] {
        guard count <= Self.answerLimit else { throw BenchFailure("\(authority) sends too long an answer") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let received = recv(descriptor, &buffer, count - bytes.count, 0)
            guard received >= 0 else { throw .system("waiting for \(authority)") }
            guard received > 0 else { throw BenchFailure("\(authority) has closed the connection") }
            bytes += buffer.prefix(received)
        }
        return bytes
    }
}
