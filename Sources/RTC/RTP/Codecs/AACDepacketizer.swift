/// How frames of AAC stand in packets, as a session description says.
public enum AACPacking: Hashable, Sendable {
    /// RFC 3640: each frame has a header with its size and its place, of so many bits, before all of the frames.
    case generic(sizeLength: Int, indexLength: Int, indexDeltaLength: Int)
    /// RFC 6416, without a configuration in the packets: each frame follows its size.
    case latm
}

/// Takes frames of AAC out of packets that arrive in sequence order. A value without I/O.
public struct AACDepacketizer: Sendable {
    /// The largest frame in bytes: what AAC allows for ten channels.
    public static let maxByteCount = 1 << 13
    private static let maxFrameCount = 64

    private let packing: AACPacking
    /// The parts so far of a frame that is spread over several packets.
    private var fragments: [UInt8] = []

    /// A depacketizer for packets of this kind.
    public init(_ packing: AACPacking) { self.packing = packing }

    /// Forgets the parts of a frame of which a packet is missing.
    public mutating func skip() { fragments = [] }

    /// The frames that a packet completes, in order; none if it is malformed.
    ///
    /// - Parameter isLast: whether the packet has the marker, which the last one of a frame has.
    public mutating func frames(in payload: ArraySlice<UInt8>, isLast: Bool) -> [[UInt8]] {
        switch packing {
        case .generic(let size, let index, let delta):
            return genericFrames(in: payload, sizeLength: size, indexLengths: (index, delta), isLast: isLast)
        case .latm: return latmFrames(in: payload, isLast: isLast)
        }
    }

    /// RFC 3640 sections 3.2 and 3.3.6:
    ///
    ///     16 bits: the bits of all headers | size, index | size, index delta | ... | padding | frame | frame | ...
    ///
    /// A packet with a part of a frame has one header, whose size is that of the whole frame.
    private mutating func genericFrames(
        in payload: ArraySlice<UInt8>, sizeLength: Int, indexLengths: (first: Int, later: Int), isLast: Bool
    ) -> [[UInt8]] {
        guard payload.count >= 2 else { return [] }
        let headerBits = Int(payload[payload.startIndex]) << 8 | Int(payload[payload.startIndex + 1])
        let headerBytes = (headerBits + 7) / 8
        guard payload.count >= 2 + headerBytes else { return [] }
        let headers = payload.dropFirst(2).prefix(headerBytes)
        var rest = payload.dropFirst(2 + headerBytes)
        var frames: [[UInt8]] = []
        var position = 0
        while position + sizeLength <= headerBits, frames.count < Self.maxFrameCount {
            let size = Self.number(in: headers, at: position, count: sizeLength)
            position += sizeLength + (frames.isEmpty ? indexLengths.first : indexLengths.later)
            guard (1...Self.maxByteCount).contains(size) else { break }
            if size > rest.count || !fragments.isEmpty {
                return frames.isEmpty ? completed(by: rest, size: size, isLast: isLast) : frames
            }
            frames.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return frames
    }

    private mutating func completed(by part: ArraySlice<UInt8>, size: Int, isLast: Bool) -> [[UInt8]] {
        defer { if isLast { fragments = [] } }
        guard part.count <= size - fragments.count else {
            fragments = []
            return []
        }
        fragments += part
        return isLast && fragments.count == size ? [fragments] : []
    }

    /// RFC 6416 section 6.1: the size of a frame is the sum of the bytes up to the first that is not 255.
    private mutating func latmFrames(in payload: ArraySlice<UInt8>, isLast: Bool) -> [[UInt8]] {
        fragments += payload
        guard fragments.count <= Self.maxByteCount else {
            fragments = []
            return []
        }
        guard isLast else { return [] }
        var frames: [[UInt8]] = []
        var rest = fragments[...]
        fragments = []
        while !rest.isEmpty, frames.count < Self.maxFrameCount {
            var size = 0
            while let byte = rest.popFirst() {
                size += Int(byte)
                if byte < 255 { break }
            }
            guard size > 0, size <= rest.count else { break }
            frames.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return frames
    }

    /// The number in `count` bits, at most 16, of which none is behind the end.
    private static func number(in bytes: ArraySlice<UInt8>, at position: Int, count: Int) -> Int {
        (position..<position + count).reduce(0) { number, bit in
            number << 1 | Int(bytes[bytes.startIndex + bit / 8] >> UInt8(7 - bit % 8) & 1)
        }
    }
}
