import ByteCoding

/// Assembles the messages of a connection from their chunks (RTMP section 5.3).
///
/// It keeps the bytes that were appended last, and unfinished messages of at most ``unfinishedLimit`` bytes.
struct ChunkReader: Sendable {
    private struct Stream: Sendable {
        var header: ChunkHeader
        /// The message that is incomplete; nil between messages.
        var payload: [UInt8]?
    }

    private var bytes: [UInt8] = []
    private var start = 0
    private var chunkSize = 128
    private var streams: [Stream] = []
    /// The chunk whose payload is incomplete: the index of its stream, and how many bytes are missing.
    private var chunk: (stream: Int, missing: Int)?
    private var unfinished = 0

    /// The most bytes of unfinished messages on all chunk streams together. At first, only commands are expected.
    var unfinishedLimit = RTMPLimits.command

    /// The bytes that are kept.
    var keptCount: Int { bytes.count - start + unfinished }

    /// Adds what has been received. Take all messages before adding more.
    mutating func append(_ more: ArraySlice<UInt8>) {
        bytes.removeSubrange(..<start)
        start = 0
        bytes.append(contentsOf: more)
    }

    /// The next message; nil if none is complete. Changes of the chunk size and aborted messages are handled here.
    ///
    /// - Throws: ``RTMPError``, after which nothing more can be read.
    mutating func next() throws(RTMPError) -> RTMPMessage? {
        while true {
            if chunk == nil { chunk = try readHeader() }
            guard let (index, missing) = chunk else { return nil }
            let count = min(missing, bytes.count - start)
            streams[index].payload?.append(contentsOf: bytes[start..<start + count])
            start += count
            unfinished += count
            guard count == missing else {
                chunk = (index, missing - count)
                return nil
            }
            chunk = nil
            guard let message = finish(index) else { continue }
            switch message.kind {
            case .setChunkSize: try changeSize(message.payload)
            case .abort: try abort(message.payload)
            default: return message
            }
        }
    }

    /// Reads the header of the next chunk. Nil, and nothing is read, if it has not arrived completely.
    private mutating func readHeader() throws(RTMPError) -> (stream: Int, missing: Int)? {
        var reader = ByteReader(bytes[start...])
        guard let (form, id) = ChunkHeader.begin(&reader) else { return nil }
        let known = streams.firstIndex { $0.header.id == id }
        let received = known.flatMap { streams[$0].payload?.count }
        if received != nil, form < 3 { throw .malformed("a message begins within another one of its chunk stream") }
        // Some clients begin with form 1, as if there had been a message at the time 0.
        if known == nil, form > 1 { throw .malformed("a chunk stream begins without a message's length") }
        var header = known.map { streams[$0].header } ?? ChunkHeader(id: id)
        guard try header.read(form: form, beginsMessage: received == nil, &reader) else { return nil }
        guard known != nil || streams.count < RTMPLimits.chunkStreams else {
            throw .tooLarge("more than \(RTMPLimits.chunkStreams) chunk streams")
        }
        let missing = min(chunkSize, header.length - (received ?? 0))
        guard missing <= unfinishedLimit - unfinished else {
            throw .tooLarge("unfinished messages of more than \(unfinishedLimit) bytes")
        }
        start = bytes.count - reader.count
        let index = known ?? streams.count
        if known == nil { streams.append(Stream(header: header)) }
        streams[index].header = header
        if received == nil { streams[index].payload = [] }
        return (index, missing)
    }

    /// Ends the message of a stream; nil if a part of it is missing.
    private mutating func finish(_ index: Int) -> RTMPMessage? {
        let header = streams[index].header
        guard streams[index].payload?.count == header.length, let payload = streams[index].payload.take() else {
            return nil
        }
        unfinished -= payload.count
        return RTMPMessage(
            type: header.type, timestamp: header.timestamp, stream: header.stream, payload: payload)
    }

    private mutating func changeSize(_ payload: [UInt8]) throws(RTMPError) {
        var reader = ByteReader(payload)
        guard let size = reader.uint32(), (1...0x7FFF_FFFF).contains(size) else {
            throw .malformed("a chunk size that isn't 1 to 2147483647")
        }
        // No message is longer than that.
        chunkSize = min(Int(size), RTMPLimits.video)
    }

    private mutating func abort(_ payload: [UInt8]) throws(RTMPError) {
        var reader = ByteReader(payload)
        guard let id = reader.uint32() else { throw .malformed("an abort that names no chunk stream") }
        guard let index = streams.firstIndex(where: { $0.header.id == id }) else { return }
        unfinished -= streams[index].payload.take()?.count ?? 0
    }
}
