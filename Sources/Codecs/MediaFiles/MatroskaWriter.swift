import MediaTypes

/// Writes one H.264 track as Matroska (RFC 9559), with times in whole milliseconds.
///
/// libavformat isn't used because it copies each cluster in memory and keeps the largest copy. For a picture of the
/// largest size that a message may have, there isn't enough memory for that. Here a picture is written directly from
/// its memory to the file.
///
///     EBML │ Segment: SeekHead, Info, Tracks │ Cluster: Timestamp, SimpleBlock... │ Cluster ... │ Cues
final class MatroskaWriter: MediaFormatWriter {
    /// A position that players can seek to: a cluster that begins with a key frame.
    private struct Cue {
        let time: Int64
        let position: UInt64
    }

    /// A cluster that is being written.
    private struct Cluster {
        let time: Int64
        /// The file offset of its length field.
        let sizeOffset: UInt64
        var byteCount: UInt64
    }

    private static let trackNumber: UInt64 = 1
    /// The shortest cluster that a key frame may end, in milliseconds.
    private static let leastClusterTime: Int64 = 1000
    /// A cluster also ends, at any picture, when it reaches this length or number of bytes.
    private static let clusterTime: Int64 = 5000
    private static let clusterBytes: UInt64 = 5 << 20

    private let file: OutputFile
    /// The file offset of the segment's data, from which positions are counted.
    private let segmentStart: UInt64
    private let durationOffset: UInt64
    private let cuesPositionOffset: UInt64
    private var cluster: Cluster?
    private var cues: [Cue] = []
    private let lastDuration: Interval
    /// The latest presentation time so far.
    private var lastShown = Interval.zero

    init(path: String, track: MediaTrack, configuration: DecoderConfiguration) throws(MediaFileError) {
        var head = EBML()
        head.append(ID.header, Self.header)
        head.appendOpenFront(ID.segment)
        let segmentStart = UInt64(head.bytes.count)
        let tracks = Self.tracks(track, configuration)
        // All elements in it have a fixed length, so a copy with zeros tells its size.
        let seekCount = UInt64(Self.seekHead(info: 0, tracks: 0, cues: 0).bytes.count)
        let info = Self.info
        head.append(
            Self.seekHead(info: seekCount, tracks: seekCount + UInt64(info.bytes.count), cues: 0).bytes)
        // The last eight bytes are the position of the cues.
        cuesPositionOffset = UInt64(head.bytes.count) - 8
        head.append(info.bytes)
        durationOffset = UInt64(head.bytes.count) - 8
        head.append(tracks.bytes)
        self.segmentStart = segmentStart
        lastDuration = track.lastDuration
        file = try OutputFile(path: path)
        try file.write(head.bytes)
    }

    func write(_ bytes: consuming [UInt8], _ times: MediaTimes, isKey: Bool) throws(MediaFileError) {
        let time = Self.milliseconds(times.presentation.nanoseconds)
        lastShown = max(lastShown, times.presentation)
        if needsCluster(at: time, isKey: isKey) { try beginCluster(at: time, isKey: isKey) }
        guard let cluster, let offset = Int16(exactly: time - cluster.time) else {
            throw .rejected(reason: "its times")
        }
        // SimpleBlock (RFC 9559 section 10.2): track number, time within the cluster, flags.
        let front: [UInt8] =
            [0x80 | UInt8(Self.trackNumber)] + EBML.bigEndian(UInt64(UInt16(bitPattern: offset)), count: 2)
            + [isKey ? 0x80 : 0]
        var block = EBML()
        block.appendFront(ID.simpleBlock, count: front.count + bytes.count)
        block.append(front)
        self.cluster?.byteCount += UInt64(block.bytes.count + bytes.count)
        try file.write(block.bytes, consume bytes)
    }

    func finish() throws(MediaFileError) {
        try endCluster()
        let cuesPosition = file.offset - segmentStart
        var points = EBML()
        for cue in cues {
            var place = EBML()
            place.append(ID.cueTrack, Self.trackNumber)
            place.append(ID.cueClusterPosition, cue.position)
            var point = EBML()
            point.append(ID.cueTime, UInt64(clamping: cue.time))
            point.append(ID.cueTrackPositions, place)
            points.append(ID.cuePoint, point)
        }
        var last = EBML()
        last.append(ID.cues, points)
        try file.write(last.bytes)
        try file.write(EBML.bigEndian(cuesPosition, count: 8), at: cuesPositionOffset)
        let end = Self.milliseconds((lastShown + max(.zero, lastDuration)).nanoseconds)
        try file.write(EBML.bigEndian(Double(end).bitPattern, count: 8), at: durationOffset)
        try file.write(EBML.wideSize(file.offset - segmentStart), at: segmentStart - 8)
        try file.close()
    }

    // MARK: - Clusters

    private func needsCluster(at time: Int64, isKey: Bool) -> Bool {
        guard let cluster else { return true }
        let age = time - cluster.time
        if isKey, age >= Self.leastClusterTime { return true }
        return age >= Self.clusterTime || cluster.byteCount >= Self.clusterBytes || Int16(exactly: age) == nil
    }

    private func beginCluster(at time: Int64, isKey: Bool) throws(MediaFileError) {
        try endCluster()
        // A picture's time may be negative, but a cluster's may not.
        let start = max(0, time)
        let position = file.offset - segmentStart
        if isKey { cues.append(Cue(time: start, position: position)) }
        var front = EBML()
        front.appendOpenFront(ID.cluster)
        let sizeOffset = file.offset + UInt64(front.bytes.count) - 8
        var content = EBML()
        content.append(ID.timestamp, UInt64(start))
        cluster = Cluster(time: start, sizeOffset: sizeOffset, byteCount: UInt64(content.bytes.count))
        try file.write(front.bytes + content.bytes)
    }

    private func endCluster() throws(MediaFileError) {
        guard let cluster else { return }
        self.cluster = nil
        try file.write(EBML.wideSize(cluster.byteCount), at: cluster.sizeOffset)
    }

    // MARK: - File header

    private static var header: EBML {
        var header = EBML()
        header.append(ID.version, 1)
        header.append(ID.readVersion, 1)
        header.append(ID.maxIDLength, 4)
        header.append(ID.maxSizeLength, 8)
        header.append(ID.docType, "matroska")
        header.append(ID.docTypeVersion, 4)
        // SimpleBlock was introduced in version 2.
        header.append(ID.docTypeReadVersion, 2)
        return header
    }

    private static func seekHead(info: UInt64, tracks: UInt64, cues: UInt64) -> EBML {
        var entries = EBML()
        for (id, position) in [(ID.info, info), (ID.tracks, tracks), (ID.cues, cues)] {
            var entry = EBML()
            entry.append(ID.seekID, EBML.bigEndian(UInt64(id), count: 4))
            entry.appendWide(ID.seekPosition, position)
            entries.append(ID.seek, entry)
        }
        var head = EBML()
        head.append(ID.seekHead, entries)
        return head
    }

    /// The duration isn't known yet; it comes last, so that it can be overwritten.
    private static var info: EBML {
        var content = EBML()
        content.append(ID.timestampScale, 1_000_000)
        content.append(ID.muxingApp, "ScreenRelay")
        content.append(ID.writingApp, "ScreenRelay")
        content.appendFloat(ID.duration, 0)
        var info = EBML()
        info.append(ID.info, content)
        return info
    }

    private static func tracks(_ track: MediaTrack, _ configuration: DecoderConfiguration) -> EBML {
        var video = EBML()
        video.append(ID.pixelWidth, UInt64(clamping: track.size.width))
        video.append(ID.pixelHeight, UInt64(clamping: track.size.height))
        var entry = EBML()
        entry.append(ID.trackNumber, trackNumber)
        entry.append(ID.trackUID, trackNumber)
        entry.append(ID.trackType, 1)
        entry.append(ID.flagLacing, 0)
        entry.append(ID.language, "und")
        entry.append(ID.codecID, "V_MPEG4/ISO/AVC")
        entry.append(ID.codecPrivate, configuration.bytes)
        entry.append(ID.video, video)
        var list = EBML()
        list.append(ID.trackEntry, entry)
        var tracks = EBML()
        tracks.append(ID.tracks, list)
        return tracks
    }

    /// Rounds to the nearest millisecond. The input is clamped first, because a damaged file may contain any time.
    private static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        let half: Int64 = nanoseconds < 0 ? -500_000 : 500_000
        return (max(.min / 2, min(nanoseconds, .max / 2)) + half) / 1_000_000
    }
}

/// Identifiers of elements (RFC 8794 section 11.2, RFC 9559 section 5).
private enum ID {
    static let header: UInt32 = 0x1A45_DFA3
    static let version: UInt32 = 0x4286
    static let readVersion: UInt32 = 0x42F7
    static let maxIDLength: UInt32 = 0x42F2
    static let maxSizeLength: UInt32 = 0x42F3
    static let docType: UInt32 = 0x4282
    static let docTypeVersion: UInt32 = 0x4287
    static let docTypeReadVersion: UInt32 = 0x4285
    static let segment: UInt32 = 0x1853_8067
    static let seekHead: UInt32 = 0x114D_9B74
    static let seek: UInt32 = 0x4DBB
    static let seekID: UInt32 = 0x53AB
    static let seekPosition: UInt32 = 0x53AC
    static let info: UInt32 = 0x1549_A966
    static let timestampScale: UInt32 = 0x2A_D7B1
    static let duration: UInt32 = 0x4489
    static let muxingApp: UInt32 = 0x4D80
    static let writingApp: UInt32 = 0x5741
    static let tracks: UInt32 = 0x1654_AE6B
    static let trackEntry: UInt32 = 0xAE
    static let trackNumber: UInt32 = 0xD7
    static let trackUID: UInt32 = 0x73C5
    static let trackType: UInt32 = 0x83
    static let flagLacing: UInt32 = 0x9C
    static let language: UInt32 = 0x22_B59C
    static let codecID: UInt32 = 0x86
    static let codecPrivate: UInt32 = 0x63A2
    static let video: UInt32 = 0xE0
    static let pixelWidth: UInt32 = 0xB0
    static let pixelHeight: UInt32 = 0xBA
    static let cluster: UInt32 = 0x1F43_B675
    static let timestamp: UInt32 = 0xE7
    static let simpleBlock: UInt32 = 0xA3
    static let cues: UInt32 = 0x1C53_BB6B
    static let cuePoint: UInt32 = 0xBB
    static let cueTime: UInt32 = 0xB3
    static let cueTrackPositions: UInt32 = 0xB7
    static let cueTrack: UInt32 = 0xF7
    static let cueClusterPosition: UInt32 = 0xF1
}
