import LinkTransport

/// A listener on the wire between a capture and a host: passes on what each sends by TCP, and keeps it.
///
/// It works only while somebody calls ``pump()``.
public final class WireTap {
    /// The port of 127.0.0.1 where the capture connects.
    public let port: UInt16
    /// All that has passed, in both directions.
    public private(set) var seen: [UInt8] = []
    /// The most bytes that are passed on at once.
    public var step = 64 << 10
    /// Called with what is about to be passed on.
    public var change: (inout [UInt8]) -> Void = { _ in }

    private let listener: SocketListener
    private let target: LinkAddress
    private var wires: [(from: SocketConnection, to: SocketConnection)] = []

    /// Passes on to a port of 127.0.0.1.
    public init(to port: UInt16) throws {
        target = .tcp(host: "127.0.0.1", port: port)
        listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        self.port = listener.address.network?.port ?? 0
    }

    /// Passes on what has arrived.
    public func pump() throws {
        while let near = try listener.accept() {
            let far = try SocketConnection.connect(to: target)
            wires += [(near, far), (far, near)]
        }
        for (from, to) in wires where to.descriptor >= 0 {
            if to.hasPending { _ = try? to.flush() }
            guard !to.hasPending, from.descriptor >= 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: step)
            switch try from.receive(into: &buffer) {
            case .bytes(let count):
                var bytes = Array(buffer[..<count])
                seen += bytes
                change(&bytes)
                try? to.enqueue(header: bytes)
            case .wouldBlock: break
            case .closed: to.close()
            }
        }
    }
}

extension [UInt8] {
    /// Whether `part` is somewhere in these bytes.
    public func contains(inside part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        return (0...(count - part.count)).contains { self[$0] == first && self[$0..<($0 + part.count)] == part[...] }
    }
}
