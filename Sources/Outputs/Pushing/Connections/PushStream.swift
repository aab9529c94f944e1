import AudioCoding
import Clocks
import CodecTable
import MediaFiles
import MediaTypes
import OutputSettings
import TrackHub

/// The stream of one connection: what is sent of the track, with times from 0.
struct PushStream: ~Copyable {
    /// A stream doesn't begin earlier than this long ago: with an older picture of a screen that has stood still since,
    /// a player would stay behind by the picture's age.
    private static let oldestStart = Interval.seconds(2)

    private let writer: any MediaWriter
    /// Reads the pictures' headers; nil without pictures.
    private var reader: (any FrameReader)?
    /// Nil without sound.
    private var sound: PushAudio?
    /// What the pictures of a file have in common; nil where they may change.
    private let fileFormat: TrackFormat?
    /// The origin of the track's timeline.
    private let origin: MonotonicTime
    /// What is 0 in the stream, on the track's timeline; nil before the first picture.
    private var start: Interval?

    /// Connects, and sends what comes before the first frame.
    ///
    /// - Parameters:
    ///   - picture: the first one; nil without pictures.
    ///   - sound: how it is sent; nil without sound.
    init(
        _ picture: TrackFrame?, _ sound: PushAudio?, origin: MonotonicTime, to address: PushAddress,
        at place: ResolvedAddress, connection: MediaConnection
    ) throws(MediaFileError) {
        var track: MediaTrack?
        if let picture {
            var facts = picture.format.codec.coding.makeReader()
            guard let found = facts.read(picture.coded) else {
                throw .rejected(reason: "the track's headers can't be read")
            }
            track = MediaTrack(
                format: found.format, headers: found.headers,
                changesHeaders: address.container == .fragmentedMP4, maxStep: .zero, lastDuration: .zero)
        }
        writer =
            if address.container == .hls {
                try HLSWriter(path: String(place.url.dropFirst(5)), track: track, sound: sound?.track)
            } else {
                try MediaFileWriter(
                    address: place.url, options: place.options, container: address.container, track: track,
                    sound: sound?.track, connection: connection)
            }
        reader = picture?.format.codec.coding.makeReader()
        fileFormat = address.container.isWatched ? nil : picture?.format
        self.sound = sound
        self.origin = origin
        // Nobody would ever catch up with sound from before the connection, nor with a last packet from long ago.
        if picture == nil { begin(at: MonotonicTime.now() - origin) }
    }

    /// Whether it has pictures.
    var hasPictures: Bool { reader != nil }

    /// Whether pictures of another size or chroma begin here: many players show a file as it begins, so they get one of
    /// their own.
    func needsAnotherFile(for picture: TrackFrame) -> Bool {
        guard let fileFormat, picture.coded.isRandomAccess else { return false }
        return fileFormat.size != picture.format.size || fileFormat.chroma != picture.format.chroma
    }

    /// When silence is due if no sound comes.
    var soundDue: MonotonicTime {
        guard let sound, start != nil else { return .distantFuture }
        return origin + sound.due
    }

    mutating func write(_ picture: TrackFrame) throws(MediaFileError) {
        let facts = reader?.read(picture.coded)
        let time = time(of: picture.format.clockRate.interval(of: picture.time.ticks))
        var packet = MediaPacket(frame: picture.coded, decodingTime: time, presentationTime: time)
        if let facts, facts.changesHeaders { (packet.newHeaders, packet.newFormat) = (facts.headers, facts.format) }
        try writer.write(packet)
    }

    mutating func write(_ packet: PushAudio.Packet) throws(MediaFileError) {
        let time = time(of: packet.time)
        try writer.write(sound: packet.bytes, at: time, for: packet.duration)
    }

    /// What is to be written when a packet of the track's sound comes.
    mutating func packets(of frame: TrackFrame) throws(MediaFileError) -> [PushAudio.Packet] {
        // Sound before the first picture isn't sent.
        guard start != nil else { return [] }
        do throws(AudioCodingError) {
            return try sound?.take(frame, arrival: frame.arrival - origin) ?? []
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }

    /// The silence that is to be written by `time` where no sound has come.
    mutating func silence(until time: MonotonicTime) throws(MediaFileError) -> [PushAudio.Packet] {
        do throws(AudioCodingError) {
            return try sound?.silence(until: time - origin) ?? []
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }

    func finish() throws(MediaFileError) { try writer.finish() }

    /// The stream's time at a point of the track's timeline.
    private mutating func time(of point: Interval) -> Interval {
        begin(at: point)
        return max(.zero, point - (start ?? point))
    }

    /// Makes this point of the track's timeline 0 in the stream, unless there is one already.
    private mutating func begin(at point: Interval) {
        guard start == nil else { return }
        let point = max(point, MonotonicTime.now() - origin - Self.oldestStart)
        start = point
        sound?.begin(at: point)
    }
}

extension PushAddress {
    /// How the sound goes out.
    func sound(_ settings: AudioSettings?) throws(MediaFileError) -> PushAudio {
        do throws(AudioCodingError) {
            return try PushAudio(settings ?? (container.keepsOpus ? nil : AudioSettings()))
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }
}
