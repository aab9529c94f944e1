import CBench
import Clocks
import MediaTypes
import SecureTransport
import Threading

/// The least CPU time that sending a packet to a viewer takes here: AES-GCM and one system call, from one thread.
final class Floor {
    struct Settings: Sendable {
        var readers: Int
        /// The bytes of a datagram, with its tag of 16 bytes.
        var size: Int
        /// The mean number of packets that are sent to a reader before the next reader's turn.
        var packetsPerPicture: Double
        /// The time for each kind of sending.
        var length: Interval
        /// Whether the readers' sockets are connected, as viewers' are.
        var areConnected: Bool
        /// The processor of the thread that reads; nil for any.
        var readingCore: Int?
        /// The processor of the thread that calls ``Floor/measure()``; nil for any.
        var sendingCore: Int?
        /// How long that thread sleeps between two looks at its sockets.
        var pause: Interval
    }

    /// Microseconds of CPU time for each packet, in the fastest round.
    struct Figures {
        var encryption: Double
        var sendto: Double
        var segmented: Double
        /// The share of datagrams for which the readers had no room, in percent; they cost less.
        var dropped: Double
    }

    private enum Kind { case encryption, sendto, segmented }

    private static let rounds = 5

    private let settings: Settings
    private let socket: Int32
    private let readers: Readers
    private let ports: [UInt16]
    private let sessions: [SRTPSession]
    /// The packets of one picture, one after the other.
    private let buffer: UnsafeMutableRawBufferPointer
    private var number: UInt16 = 0
    private var sent = 0

    /// - Throws: ``BenchFailure`` if a socket can't be made, or `SecureTransportError`.
    init(_ settings: Settings) throws {
        self.settings = settings
        guard cbench_raise_files() >= settings.readers + 64 else {
            throw BenchFailure("the limit of open files is too low for \(settings.readers) readers")
        }
        socket = cbench_udp_loopback()
        guard socket >= 0 else { throw BenchFailure.system("a socket") }
        readers = try Readers(
            count: settings.readers, senderPort: settings.areConnected ? cbench_port(socket) : nil,
            core: settings.readingCore, pause: settings.pause)
        ports = readers.ports
        sessions = try (0..<settings.readers).map { try SRTPSession(keys: Floor.keys($0)) }
        let most = Int(settings.packetsPerPicture.rounded(.up)) + 1
        buffer = .allocate(byteCount: most * settings.size + 64, alignment: 64)
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index &* 157) }
    }

    deinit {
        buffer.deallocate()
    }

    /// Measures all kinds of sending, in turn.
    ///
    /// - Throws: ``BenchFailure`` if the kernel refuses to send, or `SecureTransportError`.
    func measure() throws -> Figures {
        var figures = Figures(encryption: .infinity, sendto: .infinity, segmented: .infinity, dropped: 0)
        let thread = NamedThread("readers", blocksSignals: true) { [readers] in readers.run() }
        defer {
            readers.stop()
            thread?.join(until: .now() + .seconds(2))
        }
        // Not before: a thread starts on the processors of the thread that starts it.
        if let core = settings.sendingCore, cbench_pin(Int32(core)) != 0 {
            throw BenchFailure.system("--sender-core \(core)")
        }
        let length = settings.length / Int64(Self.rounds)
        for _ in 0..<Self.rounds {
            figures.encryption = min(figures.encryption, try microseconds(.encryption, for: length))
            figures.sendto = min(figures.sendto, try microseconds(.sendto, for: length))
            figures.segmented = min(figures.segmented, try microseconds(.segmented, for: length))
        }
        figures.dropped = 100 * Double(readers.drops) / Double(max(1, sent))
        return figures
    }

    /// Sends to all readers in turn, over and over.
    private func microseconds(_ kind: Kind, for length: Interval) throws -> Double {
        let end = MonotonicTime.now() + length
        let start = cbench_cpu_time()
        var packets = 0
        var owed = 0.0
        while MonotonicTime.now() < end {
            owed += settings.packetsPerPicture
            let count = max(1, Int(owed))
            owed -= Double(count)
            for reader in 0..<settings.readers { try sendPicture(kind, of: count, to: reader) }
            number &+= UInt16(truncatingIfNeeded: count)
            packets += count * settings.readers
        }
        if kind != .encryption { sent += packets }
        return Double(cbench_cpu_time() - start) / 1000 / Double(max(1, packets))
    }

    private func sendPicture(_ kind: Kind, of count: Int, to reader: Int) throws {
        let size = settings.size
        for index in 0..<count {
            let packet = UnsafeMutableRawBufferPointer(rebasing: buffer[(index * size)..<((index + 1) * size)])
            writeHeader(number &+ UInt16(truncatingIfNeeded: index), into: packet)
            _ = try sessions[reader].protect(packet, count: size - SRTPSession.rtpRoom)
            guard kind == .sendto else { continue }
            guard cbench_send_to(socket, ports[reader], packet.baseAddress, size) == 0 else {
                throw BenchFailure.system("sendto")
            }
        }
        guard kind == .segmented else { return }
        guard cbench_send_segments(socket, ports[reader], buffer.baseAddress, count * size, UInt16(size)) == 0 else {
            throw BenchFailure.system("UDP_SEGMENT")
        }
    }

    /// The header of an RTP packet; what follows is encrypted in place, again and again.
    private func writeHeader(_ number: UInt16, into packet: UnsafeMutableRawBufferPointer) {
        packet.storeBytes(of: UInt32(0x8066_0000 | UInt32(number)).bigEndian, as: UInt32.self)
        packet.storeBytes(of: UInt32(7).bigEndian, toByteOffset: 8, as: UInt32.self)
    }

    /// The keys of one reader.
    private static func keys(_ reader: Int) -> SRTPKeys {
        let profile = SRTPProfile.aeadAES128GCM
        let first = [UInt8(reader >> 8 & 255), UInt8(reader & 255)]
        let master = SRTPMasterKey(
            key: first + [UInt8](repeating: 7, count: profile.keyCount - 2),
            salt: first + [UInt8](repeating: 9, count: profile.saltCount - 2))
        return SRTPKeys(profile: profile, local: master, remote: master)
    }
}
