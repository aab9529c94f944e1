import Glibc
import MediaTypes
import RTP
import TestSupport

/// A client of RTSP that sends exactly the bytes it is told, and reads one answer at a time.
final class RTSPTestClient {
    struct Answer {
        var status: Int
        /// The text after the status.
        var reason = ""
        var headers: [String: String]
        /// All values of WWW-Authenticate.
        var challenges: [String]
        var body: String
    }

    private let socket: TestSocket
    private var bytes: [UInt8] = []
    /// The interleaved packets that came between the answers.
    private(set) var packets: [(channel: UInt8, bytes: [UInt8])] = []
    /// Whether the server has closed the connection.
    var isClosed: Bool { socket.isAtEnd }

    /// Connects. `receiveBuffer`, in bytes, is so little that the server soon has to wait for a client that doesn't
    /// read.
    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        socket = try TestSocket(port: port, receiveBuffer: receiveBuffer)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) { _ = try? socket.send(bytes) }

    /// Sends a request, and waits for its answer.
    func ask(_ line: String, _ number: Int, _ headers: String...) throws -> Answer {
        send((["\(line) RTSP/1.0", "CSeq: \(number)"] + headers).joined(separator: "\r\n") + "\r\n\r\n")
        let answer = try answer()
        guard answer.headers["cseq"] == "\(number)" else { throw DeadlineMissed(what: "the answer to \(number)") }
        return answer
    }

    /// The next answer.
    func answer() throws -> Answer {
        try eventually("an answer") {
            try receive()
            return takeItem()
        }
    }

    /// Reads what has come, and puts packets aside.
    func receive() throws {
        bytes += socket.receive() ?? []
        takePackets()
    }

    private func takePackets() {
        while bytes.count >= 4, bytes[0] == 0x24 {
            let end = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
            guard bytes.count >= end else { return }
            packets.append((bytes[1], Array(bytes[4..<end])))
            bytes.removeFirst(end)
        }
    }

    private func takeItem() -> Answer? {
        guard bytes.first != 0x24 else { return nil }
        var end = 0
        while end + 3 < bytes.count, Array(bytes[end..<(end + 4)]) != [13, 10, 13, 10] { end += 1 }
        guard end + 3 < bytes.count else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        var answer = Answer(status: 0, headers: [:], challenges: [], body: "")
        let words = lines[0].split(separator: " ", maxSplits: 2)
        answer.status = Int(words[1]) ?? 0
        answer.reason = words.count > 2 ? String(words[2]) : ""
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }.lowercased()
            let value = String(line.dropFirst(name.count + 2))
            if name == "www-authenticate" { answer.challenges.append(value) }
            answer.headers[name] = value
        }
        let length = Int(answer.headers["content-length"] ?? "0") ?? 0
        guard bytes.count >= end + 4 + length else { return nil }
        answer.body = String(decoding: bytes[(end + 4)..<(end + 4 + length)], as: UTF8.self)
        bytes.removeFirst(end + 4 + length)
        takePackets()
        return answer
    }
}

/// Two UDP ports side by side, the first one odd.
final class OddPorts {
    let number: UInt16
    private let rtp: Int32
    private let rtcp: Int32

    init() throws {
        func open(_ port: UInt16) -> (descriptor: Int32, port: UInt16)? {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = loopbackAddress(port: port)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
                }
            }
            if result == 0 { return (descriptor, UInt16(bigEndian: address.sin_port)) }
            close(descriptor)
            return nil
        }
        (rtp, rtcp, number) = try eventually("two ports") {
            guard let first = open(0) else { return nil }
            if !first.port.isMultiple(of: 2), let second = open(first.port + 1) {
                return (first.descriptor, second.descriptor, first.port)
            }
            close(first.descriptor)
            return nil
        }
    }

    deinit {
        close(rtp)
        close(rtcp)
    }

    /// The packets of media that have come.
    func takeMedia() -> [[UInt8]] { take(rtp).map(\.bytes) }

    /// The reports that have come, and the port that they came from.
    func takeReports() -> [(bytes: [UInt8], port: UInt16)] { take(rtcp) }

    private func take(_ descriptor: Int32) -> [(bytes: [UInt8], port: UInt16)] {
        var result: [(bytes: [UInt8], port: UInt16)] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            guard count >= 0 else { return result }
            result.append((Array(buffer[..<count]), UInt16(bigEndian: address.sin_port)))
        }
    }

    /// Sends a packet of media to this port of the server.
    func send(_ bytes: [UInt8], to port: UInt16) {
        var address = loopbackAddress(port: port)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(rtp, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends a report to this port of the server.
    ///
    /// - Parameter lost: how many packets of a stream have been lost so far; nil for a report about nothing.
    func report(to port: UInt16, lost: (ssrc: UInt32, count: Int32)? = nil) {
        var address = loopbackAddress(port: port)
        var bytes: [UInt8] = []
        ReceiverReport(
            ssrc: SSRC(1),
            receptionReports: lost.map {
                [ReceptionReport(ssrc: SSRC($0.ssrc), cumulativeLost: $0.count, highestSequenceNumber: 0)]
            } ?? []
        ).write(into: &bytes)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(rtcp, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
