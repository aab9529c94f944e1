import Clocks
import Glibc
import LinkTransport
import MediaTypes

/// The last second of a connection whose peer has been told why it ends.
///
/// If we closed at once, a peer that is still writing would never read that, since its next write would fail first.
struct LingeringClose {
    private static let timeout = Interval.seconds(1)

    /// When to close the connection at the latest.
    let deadline = MonotonicTime.now() + Self.timeout
    private let connection: SocketConnection

    /// Begins when the last message to the peer has been queued on `connection`.
    init(_ connection: SocketConnection) {
        self.connection = connection
        endWriting()
    }

    /// Reads and drops what the peer still sends. Returns whether the connection is over.
    func discard(into buffer: inout [UInt8]) -> Bool {
        do {
            if connection.wantsWrite {
                try connection.flush()
                endWriting()
            }
            return try connection.receive(into: &buffer) == .closed
        } catch {
            return true
        }
    }

    private func endWriting() {
        if !connection.wantsWrite { shutdown(connection.descriptor, Int32(SHUT_WR)) }
    }
}
