import CBench
import Glibc
import MediaTypes
import Threading

/// Sockets on loopback that are read, as those of viewers, by a thread of their own.
final class Readers: Sendable {
    private static let readyLimit: Int32 = 256

    let ports: [UInt16]
    private let descriptors: [Int32]
    private let epoll: Int32
    private let core: Int?
    private let pause: Interval
    private let isStopped = Flag()

    /// - Parameters:
    ///   - senderPort: the port that the sockets are connected to; nil leaves them unconnected.
    ///   - core: the processor of the thread that reads; nil for any.
    /// - Throws: ``BenchFailure`` if a socket can't be made.
    init(count: Int, senderPort: UInt16?, core: Int?, pause: Interval) throws(BenchFailure) {
        var ports: [UInt16] = []
        var descriptors: [Int32] = []
        let epoll = cbench_epoll()
        guard epoll >= 0 else { throw .system("epoll") }
        for index in 0..<count {
            let descriptor = cbench_udp_loopback()
            guard descriptor >= 0 else { throw .system("a socket") }
            descriptors.append(descriptor)
            ports.append(cbench_port(descriptor))
            if let senderPort, cbench_connect_loopback(descriptor, senderPort) != 0 { throw .system("connect") }
            guard cbench_epoll_add(epoll, descriptor, UInt64(index)) == 0 else { throw .system("epoll") }
        }
        self.ports = ports
        self.descriptors = descriptors
        self.epoll = epoll
        self.core = core
        self.pause = pause
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        close(epoll)
    }

    /// The datagrams for which there was no room.
    var drops: Int { descriptors.reduce(0) { $0 + Int(cbench_drops($1)) } }

    /// Lets ``run()`` return.
    func stop() { isStopped.set() }

    /// Reads until ``stop()``.
    func run() {
        if let core { _ = cbench_pin(Int32(core)) }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: Int(cbench_batch * cbench_room), alignment: 64)
        let datagrams = UnsafeMutablePointer<cbench_datagram>.allocate(capacity: Int(cbench_batch))
        defer {
            buffer.deallocate()
            datagrams.deallocate()
        }
        var ready = [UInt64](repeating: 0, count: Int(Self.readyLimit))
        while !isStopped.isSet {
            cbench_sleep(pause.nanoseconds)
            for _ in 0...(descriptors.count / Int(Self.readyLimit)) {
                let count = cbench_epoll_wait(epoll, &ready, Self.readyLimit, pause > .zero ? 0 : 5)
                for number in ready.prefix(Int(max(0, count))) {
                    let descriptor = descriptors[Int(number)]
                    while cbench_receive(descriptor, buffer, datagrams) == cbench_batch {}
                }
                if count < Self.readyLimit { break }
            }
        }
    }
}
