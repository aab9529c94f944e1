import CSRT
import Clocks
import Glibc
import MediaFiles
import MediaTypes
import ScreenRelayKit
import Signalling
import Threading

/// A port that callers connect to. After it was made, it belongs to one thread.
final class SRTListener {
    /// How long lost packets are waited for, unless a caller asks for more: SRT's own default.
    private static let latency = Interval.milliseconds(120)
    /// The most callers that wait to be accepted, which takes milliseconds. libsrt keeps nothing of a caller
    /// that hasn't finished its handshake.
    private static let backlog: Int32 = 128
    /// The longest wait in milliseconds.
    private static let maxWait: Int64 = 60_000

    private let socket: SRTSOCKET
    private let events: Int32
    /// Both are kept for libsrt.
    private let gate: SRTGate
    private let wake: EventFD
    private var isClosed = false

    /// Listens. Signals of `wake` end ``wait(until:)``.
    init(
        at wanted: ListenAddress, passphrase: String?, gate: SRTGate, wake: EventFD
    ) throws(ServerError) {
        guard startSRT() >= 0 else { throw ServerError("libsrt can't be started") }
        shim_srt_be_quiet()
        self.gate = gate
        self.wake = wake
        socket = srt_create_socket()
        events = srt_epoll_create()
        guard socket >= 0, events >= 0 else { throw Self.problem(at: wanted) }
        setOption(SRTO_RCVSYN, of: socket, to: 0)
        setOption(SRTO_RCVLATENCY, of: socket, to: Int32(Self.latency.milliseconds))
        if let passphrase,
            srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, Int32(clamping: passphrase.utf8.count)) != 0
        {
            let lengths = SRTServer.passphraseLengths
            throw ServerError("a passphrase has \(lengths.lowerBound) to \(lengths.upperBound) bytes")
        }
        guard shim_srt_bind(socket, wanted.address, wanted.port) == 0 else { throw Self.problem(at: wanted) }
        srt_listen_callback(
            socket,
            { gate, caller, _, address, streamID in
                guard let gate else { return -1 }
                let this = Unmanaged<SRTGate>.fromOpaque(gate).takeUnretainedValue()
                var text = [CChar](repeating: 0, count: 64)
                shim_srt_text(address, &text)
                let name = streamID.map { String(cString: $0) } ?? ""
                guard let code = this.rejection(of: SRTListener.string(text), streamID: name) else { return 0 }
                srt_setrejectreason(caller, code)
                return -1
            }, Unmanaged.passUnretained(gate).toOpaque())
        guard srt_listen(socket, Self.backlog) == 0, shim_srt_watch(events, socket, wake.descriptor) == 0 else {
            throw Self.problem(at: wanted)
        }
    }

    deinit { close() }

    private static func problem(at wanted: ListenAddress) -> ServerError {
        var system: Int32 = 0
        srt_getlasterror(&system)
        guard system == EADDRINUSE else { return ServerError(String(cString: srt_getlasterror_str())) }
        return ServerError(taken: wanted.port)
    }

    /// The text in a buffer, which ends with a zero byte.
    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The actual port.
    var port: UInt16 { shim_srt_port(socket) }

    /// Waits for a caller, for `wake`, or until the deadline.
    func wait(until deadline: MonotonicTime) {
        let left = (deadline - MonotonicTime.now()).milliseconds
        shim_srt_wait(events, min(max(0, left) + 1, Self.maxWait))
        wake.consume()
    }

    /// The next caller that has been admitted; nil if none waits.
    func accept() -> SRTCaller? {
        var text = [CChar](repeating: 0, count: 64)
        let accepted = shim_srt_accept(socket, &text)
        return accepted < 0 ? nil : SRTCaller(accepted, address: Self.string(text))
    }

    /// Ends listening, after all callers' connections were closed.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if socket >= 0 { srt_close(socket) }
        if events >= 0 { srt_epoll_release(events) }
        _ = endSRT()
    }
}

/// A caller's connection. Belongs to one thread.
final class SRTCaller {
    /// How long `read` waits.
    private static let wait = Interval.milliseconds(100)

    /// The address of the caller's machine.
    let address: String
    /// What it asked for.
    let streamID: String
    private var socket: SRTSOCKET

    /// Owns a socket that was accepted.
    init(_ socket: SRTSOCKET, address: String) {
        self.socket = socket
        self.address = address
        // libsrt's longest identifier, and a zero byte.
        var bytes = [UInt8](repeating: 0, count: 513)
        var count = Int32(bytes.count)
        srt_getsockflag(socket, SRTO_STREAMID, &bytes, &count)
        streamID = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        setOption(SRTO_RCVSYN, of: socket, to: 1)
        setOption(SRTO_RCVTIMEO, of: socket, to: Int32(Self.wait.milliseconds))
    }

    deinit { close() }

    /// Waits for the next packet, and writes its contents into `buffer`, which has room for 1456 bytes or more. Returns
    /// how many there are; 0 if none has arrived so far; nil at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let bytes = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        let count = srt_recvmsg(socket, bytes, Int32(clamping: buffer.count))
        if count >= 0 { return count == 0 ? nil : Int(count) }
        return srt_getlasterror(nil) == shim_SRT_ETIMEOUT ? 0 : nil
    }

    func close() {
        guard socket >= 0 else { return }
        srt_close(socket)
        socket = -1
    }
}

/// Sets an option that is a number or a Boolean.
private func setOption(_ option: SRT_SOCKOPT, of socket: SRTSOCKET, to value: Int32) {
    var value = value
    srt_setsockflag(socket, option, &value, Int32(MemoryLayout<Int32>.size))
}
