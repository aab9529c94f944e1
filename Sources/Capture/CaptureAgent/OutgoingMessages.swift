import ByteCoding
import CaptureLink
import LinkTransport
import MediaTypes
import X264Encoding

/// What goes to the host: messages gathered into few system calls, and behind a picture that the host is still taking the
/// latest control message of each kind.
///
/// The connection keeps the rest of what the host has taken a part of; whoever sends the next picture waits until it
/// `hasPending` nothing, so that is one picture at most and what came with it. Belongs to the capture thread, outlives
/// connections, and never blocks. A method that throws has left a message unfinished: the connection is of no more use.
struct OutgoingMessages {
    private let encoder: MessageEncoder
    private var writer = ByteWriter(capacity: OutgoingMessages.gathered)
    /// Control messages that the host hasn't had room for: of each kind the latest.
    private var waiting: [LinkMessage] = []
    /// When the host last took something of what waits for it.
    private var lastTaken = MonotonicTime.zero
    /// Bytes given to connections, headers included.
    private(set) var bytesSent: UInt64 = 0

    /// So many bytes are copied together rather than written one by one.
    private static let gathered = 1 << 16

    init(_ encoder: MessageEncoder) {
        self.encoder = encoder
    }

    /// Sends a control message.
    ///
    /// While the host hasn't taken what was written before, it waits, and the next one of its kind takes its place: a host
    /// that doesn't read, but asks for things, makes nothing pile up here.
    mutating func send(_ message: LinkMessage, on connection: LinkConnection) throws(LinkTransportError) {
        if connection.hasPending {
            waiting.removeAll { $0.kind == message.kind }
            waiting.append(message)
        } else {
            try write([message], to: connection)
        }
    }

    /// Writes control messages in one system call, also behind what the host hasn't taken yet.
    mutating func write(_ messages: [LinkMessage], to connection: LinkConnection) throws(LinkTransportError) {
        writer.removeAll()
        for message in messages { encoder.append(message, to: &writer) }
        try writeOut(to: connection)
    }

    /// Writes a picture behind its notice, where there is one, and `parameterSets` between them, as messages of their own.
    ///
    /// All of a small picture is one system call: each one wakes the host up. Of a large NAL unit only what the host doesn't
    /// take at once is copied.
    /// - Throws: `CaptureError.link` where the host is gone, `.message` where it takes no NAL unit of such a length.
    mutating func write(
        _ picture: EncodedPicture, captureTime: MonotonicTime, notice: PictureNotice?, parameterSets: [[UInt8]],
        to connection: LinkConnection
    ) throws(CaptureError) {
        writer.removeAll()
        if let notice { encoder.append(.picture(notice), to: &writer) }
        for set in parameterSets {
            try appendStart(of: set.count, captureTime, isLast: false)
            writer.append(set)
        }
        for index in 0..<picture.count {
            let bytes = picture[index].bytes
            try appendStart(of: bytes.count, captureTime, isLast: index == picture.count - 1)
            if writer.count + bytes.count <= Self.gathered {
                writer.append(bytes)
            } else {
                do throws(LinkTransportError) {
                    try writeOut(followedBy: UnsafeRawBufferPointer(bytes), to: connection)
                } catch {
                    throw .link(error)
                }
            }
        }
        do throws(LinkTransportError) {
            try writeOut(to: connection)
        } catch {
            throw .link(error)
        }
    }

    private mutating func appendStart(
        of count: Int, _ captureTime: MonotonicTime, isLast: Bool
    ) throws(CaptureError) {
        do throws(LinkError) {
            try encoder.appendStart(ofNALUnit: count, captureTime, isLast: isLast, to: &writer)
        } catch {
            throw .message(error)
        }
    }

    /// Writes what was gathered, and `payload` behind it.
    private mutating func writeOut(
        followedBy payload: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        to connection: LinkConnection
    ) throws(LinkTransportError) {
        defer { writer.removeAll() }
        guard writer.count + payload.count > 0 else { return }
        if !connection.hasPending { lastTaken = .now() }
        try connection.enqueue(header: writer.bytes, payload: payload)
        bytesSent &+= UInt64(writer.count + payload.count)
    }

    /// Writes what waits, as far as the host takes it.
    mutating func flush(_ connection: LinkConnection, _ now: MonotonicTime) throws(LinkTransportError) {
        let before = connection.pendingBytes
        try connection.flush()
        if connection.pendingBytes < before { lastTaken = now }
        // Before the next picture: it may be what they say.
        guard !connection.hasPending, !waiting.isEmpty else { return }
        try write(waiting, to: connection)
        waiting.removeAll(keepingCapacity: true)
    }

    /// Since when the host has taken nothing of what waits for it; nil where nothing does.
    func idle(on connection: LinkConnection) -> MonotonicTime? {
        connection.hasPending ? lastTaken : nil
    }

    /// Forgets the control messages that wait: the host they were for is gone, or is told the end.
    mutating func forgetWaiting() {
        waiting.removeAll()
    }
}

extension MessageEncoder {
    private static let startCode: [UInt8] = [0, 0, 0, 1]

    /// What stands before a NAL unit of `count` bytes: the message's header, and the start code.
    func appendStart(
        ofNALUnit count: Int, _ captureTime: MonotonicTime, isLast: Bool, to writer: inout ByteWriter
    ) throws(LinkError) {
        try appendNALUnitHeader(
            payloadCount: Self.startCode.count + count, captureTime: captureTime, endsAccessUnit: isLast, to: &writer)
        writer.append(Self.startCode)
    }
}
