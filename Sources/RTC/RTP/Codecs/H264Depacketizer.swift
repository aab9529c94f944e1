/// Puts access units together from packets (RFC 6184, packetization modes 0 and 1).
struct H264Depacketizer: FrameDepacketizer {
    private static let maxNALUnitCount = 8192

    func contents(of payloads: [ArraySlice<UInt8>]) -> FrameContents? {
        var contents = FrameContents()
        // A NAL unit whose last fragment has not come yet, after its start code.
        var fragments: [UInt8] = []
        for payload in payloads {
            guard let first = payload.first else { return nil }
            let type = first & 0x1F
            guard fragments.isEmpty || type == H264PayloadType.fragment else { return nil }
            switch type {
            case H264PayloadType.aggregate:
                guard addAll(of: payload.dropFirst(), to: &contents) else { return nil }
            case H264PayloadType.fragment:
                let body = payload.dropFirst(2)
                guard let header = payload.dropFirst().first, !body.isEmpty else { return nil }
                let isStart = header & 0x80 != 0
                guard isStart == fragments.isEmpty else { return nil }
                if isStart { fragments = Self.startCode + [first & 0xE0 | header & 0x1F] }
                fragments += body
                guard header & 0x40 != 0 else { continue }
                guard add(fragments, to: &contents) else { return nil }
                fragments = []
            default:
                guard add(Self.startCode + payload, to: &contents) else { return nil }
            }
        }
        return fragments.isEmpty && !contents.units.isEmpty ? contents : nil
    }

    private static let startCode: [UInt8] = [0, 0, 0, 1]

    private func addAll(of aggregate: ArraySlice<UInt8>, to contents: inout FrameContents) -> Bool {
        guard !aggregate.isEmpty else { return false }
        var rest = aggregate
        while let high = rest.popFirst() {
            guard let low = rest.popFirst() else { return false }
            let count = Int(high) << 8 | Int(low)
            guard count <= rest.count, add(Self.startCode + rest.prefix(count), to: &contents) else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Adds a NAL unit that follows its start code. Returns false for one of a type that RFC 6184 reserves for itself.
    private func add(_ unit: [UInt8], to contents: inout FrameContents) -> Bool {
        guard unit.count > 4, contents.units.count < Self.maxNALUnitCount else { return false }
        let type = unit[4] & 0x1F
        guard (1...23).contains(type) else { return false }
        if type == 5 { contents.isRandomAccess = true }
        if type <= 5 { contents.hasMedia = true }
        contents.units.append(unit)
        return true
    }
}
