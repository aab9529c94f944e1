public import RTP

extension RTPPacket {
    /// The elements of a well-formed header extension in order (RFC 8285 section 4): each is a number, which SDP's
    /// `a=extmap` maps to an extension, and the data.
    public var extensionElements: [(id: UInt8, data: ArraySlice<UInt8>)] {
        let isOneByte = headerExtension.starts(with: [0xBE, 0xDE])
        var elements: [(id: UInt8, data: ArraySlice<UInt8>)] = []
        var rest = headerExtension.dropFirst(4)
        while let first = rest.popFirst() {
            if first == 0 { continue }
            let id = isOneByte ? first >> 4 : first
            let count = isOneByte ? Int(first & 0x0F) + 1 : Int(rest.popFirst() ?? 0)
            elements.append((id, rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return elements
    }

    /// The data of the first extension element with the number `id`; nil if there is none.
    public func extensionData(_ id: UInt8) -> ArraySlice<UInt8>? {
        extensionElements.first { $0.id == id }?.data
    }
}
