import AudioCoding
import Clocks
package import MediaFiles
import MediaTypes
package import ScreenRelayKit
import Synchronization
package import Threading
import VideoDecoding

/// Feeds a track from one connection to a source: pictures and sound in step, in the formats that tracks carry.
///
/// Belongs to the source's thread.
package struct SourceRelay {
    private let reader: MediaReader
    /// For people, at the beginning of a line and within one.
    private let name: String
    /// What a publisher publishes over; nil for a source.
    private let transport: PublishingProtocol?
    private let shared: Pull.Shared
    private let log: EventLog
    private let track: HostedTrack
    /// Nil if the source has no pictures, so far.
    private var pictures: CustomVideoTrack?
    /// Nil if the pictures are H.264.
    private var decoded: DecodedSource?
    /// Nil if the source has no sound, so far, or the track accepts none.
    private var sound: SourceAudio?
    /// Whether pictures or sound have come, or can't be taken.
    private var hasTriedPictures: Bool
    private var hasTriedSound: Bool
    private var leftOut: [String]
    private var clock = SourceClock()
    private var awaited = AwaitedStreams()
    /// Whether it has been logged that pictures come in parts.
    private var hasToldOfParts = false
    /// Whether a picture has come that a viewer can begin with, or sound without pictures.
    private var isBegun = false
    private var order = FrameOrder()

    /// Whether frames that pass unchanged arrive in another order than they are shown.
    package var reorders: Bool { order.isMixed }

    /// - Parameters:
    ///   - name: the source, for people, such as "the source file:a.mp4".
    ///   - transport: what a publisher publishes over; nil for a source.
    /// - Throws: ``MediaFileError`` if the pictures can't be decoded, or the sound of a source without pictures.
    package init(
        _ reader: MediaReader, named name: String, over transport: PublishingProtocol? = nil, into track: HostedTrack,
        _ shared: Pull.Shared, log: EventLog
    ) throws(MediaFileError) {
        self.reader = reader
        self.name = name
        self.transport = transport
        self.track = track
        self.shared = shared
        self.log = log
        leftOut = reader.leftOut
        hasTriedPictures = reader.hasPictures
        hasTriedSound = reader.sound != nil
        // Until the track reports otherwise, pictures count as watched, and sound as not heard. Pictures that may still
        // begin count as watched too, since their viewers aren't known.
        shared.isUnwatched.set(!reader.hasPictures && !reader.mayHaveMore)
        shared.isHeard.set(false)
        if reader.hasPictures { try preparePictures() }
        do throws(MediaFileError) {
            try prepareSound()
        } catch {
            guard pictures != nil else { throw error }
            leaveOutSound("\(error)")
        }
    }

    private mutating func preparePictures() throws(MediaFileError) {
        let made = try Self.makePictures(reader.otherCodec, shared)
        if let stream = reader.otherCodec {
            decoded = try DecodedSource(stream, into: made) { [log, name] fault in
                log.warning("\(name): dropping frames until the next key frame: \(fault)")
            }
        }
        pictures = made
    }

    private mutating func prepareSound() throws(MediaFileError) {
        sound = try reader.sound.map { stream throws(MediaFileError) in
            try Self.makeSound(stream, name, shared, log)
        }
    }

    private mutating func leaveOutSound(_ reason: String) {
        log.warning("the sound of \(name) is left out: \(reason)")
        leftOut.append(reader.sound?.codec ?? "sound")
        sound = nil
    }

    private static func makePictures(
        _ otherCodec: StreamDescription?, _ shared: Pull.Shared
    ) throws(MediaFileError) -> CustomVideoTrack {
        let feedback = CustomVideoTrack.Feedback(
            keyFrameWanted: {},
            watchedChanged: { isWatched in
                shared.isUnwatched.set(!isWatched)
                shared.wake.signal()
            })
        guard let otherCodec else { return CustomVideoTrack(makesKeyFrames: false, feedback: feedback) }
        do throws(HostError) {
            // If a source states no frame rate, a high one is assumed: a low one would take too high a bit rate.
            return try CustomVideoTrack(picturesPerSecond: otherCodec.picturesPerSecond ?? 60, feedback: feedback)
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }

    private static func makeSound(
        _ stream: AudioDescription, _ name: String, _ shared: Pull.Shared, _ log: EventLog
    ) throws(MediaFileError) -> SourceAudio {
        let feedback = CustomAudioTrack.Feedback { isHeard in
            shared.isHeard.set(isHeard)
            shared.wake.signal()
        }
        return try SourceAudio(stream, feedback: feedback) { fault in
            log.warning("a packet of sound of \(name) is left out: \(fault)")
        }
    }

    // MARK: The track

    /// Makes this the track's source. Returns false if the track has another; another audio source only keeps ours out.
    package mutating func publish() -> Bool {
        if let pictures, !track.publish(pictures) { return false }
        guard let sound, !track.publish(sound.track) else { return true }
        guard pictures != nil else { return false }
        leaveOutSound("the track has other sound")
        return true
    }

    /// Publishes pictures or sound too that the source has only now begun to send.
    ///
    /// - Throws: ``MediaFileError`` if the pictures can't be decoded.
    private mutating func publishLater() throws(MediaFileError) {
        if reader.hasPictures, !hasTriedPictures {
            (hasTriedPictures, isBegun) = (true, false)
            shared.isUnwatched.set(false)
            try preparePictures()
            guard let made = pictures, !track.publish(made) else { return }
            (pictures, decoded) = (nil, nil)
            shared.isUnwatched.set(true)
            leftOut.append("its pictures, as the track has others")
        }
        if reader.sound != nil, !hasTriedSound {
            (hasTriedSound, isBegun) = (true, false)
            do throws(MediaFileError) {
                try prepareSound()
            } catch {
                return leaveOutSound("\(error)")
            }
            if let sound, !track.publish(sound.track) { leaveOutSound("the track has other sound") }
        }
    }

    /// Leaves the track.
    package func end(reason: String) {
        sound?.track.end(reason: reason)
        pictures?.end(reason: reason)
        if transport != nil { track.describe(nil) }
    }

    // MARK: What comes

    /// Passes on a piece that has just arrived.
    ///
    /// - Throws: ``MediaFileError`` if the pictures can't be used at all.
    package mutating func take(_ piece: MediaReader.Piece) throws(MediaFileError) {
        try publishLater()
        nameMissing(besides: piece)
        if reader.joinsPictures, !hasToldOfParts {
            hasToldOfParts = true
            log.info("key frames of \(name) have parameter sets between their slices; they are put together")
        }
        var size: PictureSize?
        switch piece.content {
        case .frame(let frame):
            order.note(piece.time)
            pictures?.write(frame.withCaptureTime(captureTime(of: piece)))
            shared.pictures.wrappingAdd(1, ordering: .relaxed)
            shared.hasCome.set()
            guard frame.isRandomAccess else { return }
            size = frame.format?.size
        case .packet(var packet):
            packet.captureTime = captureTime(of: piece)
            try decoded?.take(packet, isWatched: !shared.isUnwatched.isSet)
            // Before its first picture, a source of another codec may turn out to be of no use.
            guard let decodedSize = decoded?.size else { return }
            size = decodedSize
            shared.pictures.wrappingAdd(1, ordering: .relaxed)
            shared.hasCome.set()
        case .sound(var packet):
            guard sound != nil else { return }
            packet.captureTime = piece.time.map { clock.place(sound: $0, until: piece.due ?? $0, arrival: .now()) }
            sound?.take(packet)
            guard pictures == nil else { return }
            shared.hasCome.set()
        }
        if !isBegun { tell(size) }
        isBegun = true
    }

    /// Logs streams that the source has announced, but doesn't send.
    private mutating func nameMissing(besides piece: MediaReader.Piece) {
        let isPicture = if case .sound = piece.content { false } else { true }
        let announced = (pictures: pictures != nil, sound: sound != nil)
        guard let missing = awaited.note(picture: isPicture, announced: announced, now: .now()) else { return }
        log.warning("\(name) has announced \(missing), but sends none so far")
    }

    /// When a picture was captured; nil for its arrival. Without sound, there is nothing to be in step with.
    private mutating func captureTime(of picture: MediaReader.Piece) -> MonotonicTime? {
        guard sound != nil, let time = picture.time else { return nil }
        return clock.place(picture: time, arrival: .now())
    }

    /// Starts again after a pause: neither the next pieces nor their times follow the earlier ones.
    mutating func skip() {
        decoded?.skipToKeyFrame()
        sound?.skip()
        clock = SourceClock()
        order = FrameOrder()
    }

    /// Writes the pictures that the decoder still holds back, at the end of the source.
    package mutating func finish() throws(MediaFileError) { try decoded?.finish() }

    private func tell(_ size: PictureSize?) {
        var parts: [String] = []
        if pictures != nil {
            let other = reader.otherCodec
            let codec = other.map { $0.name == "h264" ? "H.264" : $0.name.uppercased() } ?? "H.264"
            let size = size.map { " of \($0.width)x\($0.height)" } ?? ""
            let traits = (other?.traits ?? []).map { " " + $0 }.joined()
            let turned = other.map { $0.quarterTurns == 0 ? "" : ", turned by \($0.quarterTurns * 90) degrees" } ?? ""
            parts.append(codec + size + traits + turned + (other == nil ? "" : ", which is re-encoded"))
        }
        if let sound { parts.append(sound.text) }
        if pictures == nil, reader.mayHaveMore { parts.append("no pictures so far") }
        let rest = leftOut.isEmpty ? "" : "; not taken: " + leftOut.joined(separator: ", ")
        let text = parts.joined(separator: ", and ")
        log.info("\(name) sends \(text)\(rest)")
        guard let transport else { return }
        track.describe(TrackPublication(transport: transport, text: text, isReencoded: decoded != nil))
    }
}
