import Glibc
public import MediaTypes
import Threading

/// Writes a live HLS stream (RFC 8216): a playlist, and beside it segments of fragmented MP4, each of which begins with
/// a key frame.
///
/// No file is changed once it is there: the playlist is replaced as a whole, and no name is used twice, not after a
/// restart either. A stream that begins within a minute after another one at the same place continues its list. May be
/// used from one thread at a time.
public final class HLSWriter: MediaWriter {
    /// The shortest segment.
    private static let minSegment = Interval.seconds(2)
    /// The shortest first segment, so that players can begin soon.
    private static let minFirstSegment = Interval.milliseconds(500)
    /// How long after the last change of a playlist its players may still be there.
    private static let timeout = 60

    private let path: String
    private let folder: String
    private var playlist: HLSPlaylist
    private let sound: AudioTrack?
    private var track: MediaTrack?
    private var fragments: MediaFileWriter
    /// The number of the segment that is being written, and of its initialization segment.
    private var number: Int
    private var initialization: Int
    private var isDiscontinuous: Bool
    /// Whether a segment of this stream is listed.
    private var hasSegment = false
    /// The offset of all times: a continued list has continued times, for players that don't look for more.
    private let offset: Interval
    /// When the segment that is being written begins; nil before the first packet.
    private var start: Interval?
    /// The last picture, whose duration the next one determines.
    private var held: MediaPacket?
    private var lastStep = Interval.milliseconds(33)
    private var soundEnd = Interval.zero

    /// Prepares a stream whose playlist is at `path`, which ends in `.m3u8`. There is no playlist before the first
    /// segment.
    ///
    /// - Throws: ``MediaFileError`` if the tracks have no place in an HLS stream, or if the header's file can't be
    ///   written.
    public init(path: String, track: MediaTrack?, sound: AudioTrack?) throws(MediaFileError) {
        let slash = path.lastIndex(of: "/")
        folder = slash.map { String(path[...$0]) } ?? ""
        let base = String(path[(slash.map { path.index(after: $0) } ?? path.startIndex)...].dropLast(5))
        let former = Self.former(path, folder: folder, base: base)
        playlist = former ?? HLSPlaylist(base: base)
        isDiscontinuous = former != nil
        offset = former?.end ?? .zero
        let names = fileNames(in: folder.isEmpty ? "." : folder)
        let free = names.compactMap { HLSPlaylist(base: base).number(in: $0) }.max() ?? 0
        // Older than that, what a player or a server between has kept by name can't be in use any more.
        let fresh = max(Int(clamping: time(nil)), free + 1)
        number = former?.next ?? fresh
        initialization = former?.segments.last?.initialization ?? number
        self.path = path
        self.track = track
        self.sound = sound
        fragments = try MediaFileWriter(address: "", container: .hls, track: track, sound: sound)
        let bytes = try fragments.takePiece(isHeader: true)
        // Some players can't accept another initialization segment in the middle, so an equal former one is kept.
        if former == nil || bytes != Self.read(folder + playlist.initializationName(initialization))?.bytes {
            initialization = number
            try replace(playlist.initializationName(number), with: bytes)
        }
    }

    public func write(_ packet: consuming MediaPacket) throws(MediaFileError) {
        packet.decodingTime = packet.decodingTime + offset
        packet.presentationTime = packet.presentationTime + offset
        let time = packet.decodingTime
        if var last = held {
            lastStep = max(.zero, time - last.decodingTime)
            last.duration = lastStep
            held = nil
            try fragments.write(last)
        }
        if packet.frame.isRandomAccess {
            let isNew = track.map { !packet.newHeaders.isEmpty && $0.headers != packet.newHeaders } ?? false
            if let start, isNew || time - start >= (hasSegment ? Self.minSegment : Self.minFirstSegment) {
                try endSegment(at: time)
            }
            if isNew { try begin(with: packet) }
        }
        if start == nil { start = time }
        held = packet
    }

    public func write(sound bytes: [UInt8], at time: Interval, for duration: Interval) throws(MediaFileError) {
        let time = time + offset
        if track == nil, let start, time - start >= (hasSegment ? Self.minSegment : Self.minFirstSegment) {
            try endSegment(at: time)
        }
        if track == nil, start == nil { start = time }
        soundEnd = time + duration
        try fragments.write(sound: bytes, at: time, for: duration)
    }

    public func finish() throws(MediaFileError) {
        if var last = held {
            last.duration = lastStep
            held = nil
            try fragments.write(last)
            try endSegment(at: last.decodingTime + lastStep, isEnd: true)
        } else if start != nil {
            try endSegment(at: soundEnd, isEnd: true)
        }
    }

    /// Lists the packets since the last segment's end.
    private func endSegment(at time: Interval, isEnd: Bool = false) throws(MediaFileError) {
        try replace(playlist.name(number), with: try fragments.takePiece())
        let unused = playlist.append(
            HLSPlaylist.Segment(
                number: number, duration: max(.zero, time - (start ?? time)), initialization: initialization,
                isDiscontinuous: isDiscontinuous), end: time)
        try replace(nil, with: Array(playlist.text(isEnded: isEnd).utf8))
        for name in unused { unlink(folder + name) }
        if !hasSegment { removeLeftovers() }
        (number, isDiscontinuous, hasSegment, start) = (number + 1, false, true, time)
    }

    /// Begins another initialization segment, because players can't go on with the last one.
    private func begin(with packet: borrowing MediaPacket) throws(MediaFileError) {
        track?.headers = packet.newHeaders
        if let format = packet.newFormat { track?.format = format }
        fragments = try MediaFileWriter(address: "", container: .hls, track: track, sound: sound)
        (initialization, isDiscontinuous) = (number, true)
        try replace(playlist.initializationName(number), with: try fragments.takePiece(isHeader: true))
    }

    // MARK: Files

    /// Writes a file beside the playlist, or the playlist itself, so that it is seen whole or not at all.
    private func replace(_ name: String?, with bytes: [UInt8]) throws(MediaFileError) {
        let path = name.map { folder + $0 } ?? path
        // A web server, which may be another user, reads it: the umask decides who may.
        unlink(path + ".tmp")
        let descriptor = open(path + ".tmp", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw MediaFileError(-errno) }
        var rest = bytes[...]
        var code: Int32 = 0
        while !rest.isEmpty, code == 0 {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { code = errno }
        }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, rename(path + ".tmp", path) != 0 { code = errno }
        guard code == 0 else {
            unlink(path + ".tmp")
            throw MediaFileError(-code)
        }
    }

    /// The list that is there, if its players may still be there too.
    private static func former(_ path: String, folder: String, base: String) -> HLSPlaylist? {
        guard let (bytes, changed) = read(path), abs(time(nil) - changed) < timeout,
            let list = HLSPlaylist(String(decoding: bytes, as: UTF8.self), base: base)
        else { return nil }
        return list.names.allSatisfy { access(folder + $0, F_OK) == 0 } ? list : nil
    }

    /// A small file, and when it was changed, in seconds since 1970. Nil if it can't be read, or if it is anything
    /// else, such as a pipe, for whose writer it would have to wait.
    private static func read(_ path: String) -> (bytes: [UInt8], changed: Int)? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return (0..<bytes.count).contains(count) ? (Array(bytes[..<count]), facts.st_mtim.tv_sec) : nil
    }

    /// Removes files that earlier streams have left.
    private func removeLeftovers() {
        let known = playlist.names.union([playlist.initializationName(initialization)])
        for name in fileNames(in: folder.isEmpty ? "." : folder) {
            let own = name.hasSuffix(".tmp") ? String(name.dropLast(4)) : name
            if playlist.number(in: own) != nil, own != name || !known.contains(name) { unlink(folder + name) }
        }
    }
}
