import MediaTypes
import TestScene
import TestSupport
import Testing

/// How old pictures are when an edge's playlist of HLS first names their segment, in seconds: the difference between
/// the scene's counter on the screen at that moment and in the picture. So an age begins when the screen is drawn.
struct PictureAges {
    /// The scene's pictures per second.
    static let rate = 30

    /// The ages of the segment's first and last picture.
    let first: Double
    let last: Double
    /// What a player shows that begins now, as RFC 8216 lets it (section 6.3.3): with the last segment that starts
    /// three target durations or more before the end of the list.
    let played: Double
    let target: Double
    /// The screen's counter, in seconds.
    let time: Double

    /// Reads the playlist until it has named so many more segments, and fetches them. It asks so often that the edge's
    /// copy of the playlist is as old as with many players.
    static func measure(
        _ count: Int, of link: String, at edge: NginxSite, showing screen: VirtualScreen, in folder: TemporaryFolder
    ) throws -> [PictureAges] {
        let (client, size) = (try DisplayClient(screen.name), screen.size)
        func time(_ picture: [UInt8], bytesPerPixel: Int) throws -> Double {
            let counter = PatchScene.counterValue(
                inRGB: picture, width: size.width, height: size.height, bytesPerPixel: bytesPerPixel)
            return Double(try #require(counter)) / Double(rate)
        }
        let place = link.prefix(through: link.lastIndex(of: "/") ?? link.startIndex)
        var list: [Substring] = []
        /// The values of a tag; without one, the names of segments.
        func values(_ tag: String = "") -> [Substring] {
            list.filter { tag.isEmpty ? !$0.hasPrefix("#") : $0.hasPrefix(tag) }.map { $0.dropFirst(tag.count) }
        }
        func load() throws { list = String(decoding: try edge.body(of: link), as: UTF8.self).split(separator: "\n") }
        try load()
        var named: [(list: [Substring], time: Double, bytes: [UInt8])] = []
        while named.count < count {
            let former = values()
            try eventually(
                "another segment",
                holds: {
                    try load()
                    return values().last != former.last
                })
            let shown = try time(client.pixels(of: size) ?? [], bytesPerPixel: 4)
            let initialization = values("#EXT-X-MAP:URI=\"").last?.dropLast() ?? ""
            let header = try edge.body(of: "\(place)\(initialization)")
            let segments = try values().filter { !former.contains($0) }.map { try edge.body(of: "\(place)\($0)") }
            named.append((list, shown, header + (segments.last ?? [])))
        }
        // Only now, because the next segment could be named while one is decoded.
        return try named.map { segment in
            list = segment.list
            let decoded = try FFmpeg.decode(folder.write("named.mp4", segment.bytes), to: "gray").bytes
            let area = size.width * size.height
            let first = try segment.time - time(Array(decoded.prefix(area)), bytesPerPixel: 1)
            let last = try segment.time - time(Array(decoded.suffix(area)), bytesPerPixel: 1)
            let durations = values("#EXTINF:").compactMap { Double($0.dropLast()) }
            let target = values("#EXT-X-TARGETDURATION:").compactMap { Double($0) }.last ?? 0
            let distance = durations.reversed().reduce(0.0) { $0 < 3 * target ? $0 + $1 : $0 }
            return PictureAges(
                first: first, last: last, played: first - (durations.last ?? 0) + distance, target: target,
                time: segment.time)
        }
    }
}
