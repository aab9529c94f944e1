/// What viewers count; the difference between two moments is what happened between them.
struct Counters {
    /// All packets of the video, with repeated ones, and their bytes.
    var packets = 0
    var bytes = 0
    /// Packets of the retransmission stream with content, and those that are only padding.
    var retransmissions = 0
    var paddings = 0
    /// Packets whose content was there already.
    var duplicates = 0
    /// Datagrams whose SRTP or SRTCP tag is wrong.
    var forgeries = 0
    /// Requested packets and key frames, and sent reports.
    var requests = 0
    var keyFrameRequests = 0
    var reports = 0
    /// Packets given up, pictures that can't become whole, and whole pictures.
    var lostPackets = 0
    var brokenPictures = 0
    var wholePictures = 0
    /// Datagrams that the emulated paths have lost.
    var pathDrops = 0
    /// Datagrams for which the viewers' own sockets had no room: the fault of this program.
    var drops = 0

    private static let fields: [any WritableKeyPath<Counters, Int> & Sendable] = [
        \.packets, \.bytes, \.retransmissions, \.paddings, \.duplicates, \.forgeries, \.requests, \.keyFrameRequests,
        \.reports, \.lostPackets, \.brokenPictures, \.wholePictures, \.pathDrops, \.drops,
    ]

    static func + (left: Counters, right: Counters) -> Counters { combined(left, right, +) }
    static func - (left: Counters, right: Counters) -> Counters { combined(left, right, -) }

    private static func combined(
        _ left: Counters, _ right: Counters, _ operation: (Int, Int) -> Int
    ) -> Counters {
        var result = Counters()
        for field in fields {
            let path: WritableKeyPath<Counters, Int> = field
            result[keyPath: path] = operation(left[keyPath: path], right[keyPath: path])
        }
        return result
    }
}
