import Clocks
import MediaFiles
package import MediaTypes
package import ScreenRelayKit
package import Threading
import VideoDecoding

/// Feeds a track from one publisher: pictures and sound in step, in the formats that tracks carry.
///
/// Belongs to the publisher's thread.
package struct PublisherRelay {
    /// The track that it feeds.
    package let track: HostedTrack
    private let transport: PublishingProtocol
    private let name: String
    private let log: EventLog
    /// Whether the pictures have no viewers.
    private let isUnwatched = Flag()
    /// Nil before the first key frame.
    private var pictures: CustomVideoTrack?
    /// Nil if the pictures pass as they are.
    private var decoded: DecodedSource?
    /// What keeps the pictures from passing as they are, in words for people.
    private var traits: [String] = []
    /// The pictures, in words for people; nil before the first key frame.
    private var pictureText: String?
    /// Whether pictures are shown in another order than they are decoded.
    private var reorders = false
    private var order = FrameOrder()
    /// Nil if there is none, so far, or the track accepts none.
    private var sound: SourceAudio?
    private var hasTriedSound = false
    /// Headers that the decoder hasn't got yet.
    private var newHeaders: [UInt8] = []
    private var clock = SourceClock()

    /// - Parameters:
    ///   - name: what lines of the log begin with.
    ///   - transport: what the publisher publishes over.
    package init(_ name: String, over transport: PublishingProtocol, into track: HostedTrack, log: EventLog) {
        self.name = name
        self.transport = transport
        self.track = track
        self.log = log
    }

    /// Leaves the track.
    package mutating func end(reason: String) {
        sound?.track.end(reason: reason)
        pictures?.end(reason: reason)
        track.describe(nil)
    }

    /// Reports what is published and what becomes of it.
    private func describe() {
        let text = [pictureText, sound?.text].compactMap(\.self).joined(separator: ", and ")
        track.describe(TrackPublication(transport: transport, text: text, isReencoded: decoded != nil))
    }

    // MARK: Pictures

    /// Passes on a picture that has just arrived. Returns why the stream can't be published, or nil.
    ///
    /// - Parameters:
    ///   - frame: the next one in decoding order; an IDR picture with its SPS and PPS.
    ///   - decoded: when it is decoded, on the publisher's clock; nil if the publisher doesn't say.
    ///   - shown: when it is shown, on the publisher's clock.
    ///   - encoder: the encoder's name, if the publisher tells it.
    package mutating func take(
        picture frame: CodedFrame, decoded: Interval?, shown: Interval, encoder: String? = nil
    ) -> PublisherRefusal? {
        order.note(shown)
        reorders = reorders || decoded.map { $0 != shown } ?? order.isMixed
        do throws(MediaFileError) {
            if frame.isRandomAccess {
                guard try prepare(for: frame, encoder) else { return .taken(track: track.name) }
            }
            try write(frame, shown: shown)
            return nil
        } catch {
            return .unusable("\(error)")
        }
    }

    /// Makes the source for frames from this key frame on, unless it is the same as before, and reports what is sent
    /// if that has changed. Returns false if the track has another source.
    private mutating func prepare(for frame: CodedFrame, _ encoder: String?) throws(MediaFileError) -> Bool {
        let traits = H264Traits(byteStream: frame.bytes, reorders: reorders).words
        let isNew = pictures == nil || traits != self.traits
        if isNew {
            guard try publish(traits) else { return false }
        }
        let size = frame.format?.size.map { " of \($0.width)x\($0.height)" } ?? ""
        let words = traits.map { " " + $0 }.joined()
        let effect = traits.isEmpty ? "" : ", which is re-encoded"
        let text = "H.264\(size)\(words)\(effect)"
        if text == pictureText { return true }
        pictureText = text
        log.info("\(name) sends \(text)" + (encoder.map { ", with \($0)" } ?? ""))
        if isNew, decoded != nil {
            log.warning(
                "\(name): re-encoding H.264\(words) takes CPU time and adds delay; turn off B-frames at the sender (in "
                    + "OBS, the x264 option bframes=0), and send 8 bits per sample in 4:2:0")
        }
        describe()
        return true
    }

    /// Makes the source for frames with these traits. Returns false if the track has another source.
    private mutating func publish(_ traits: [String]) throws(MediaFileError) -> Bool {
        pictures?.end(reason: "the publisher sends other pictures")
        pictures = nil
        decoded = nil
        self.traits = traits
        isUnwatched.set(false)
        let made = try makePictures()
        if !traits.isEmpty {
            decoded = try DecodedSource(.h264(traits: traits), into: made) { [log, name] fault in
                log.warning("\(name): dropping frames until the next key frame: \(fault)")
            }
        }
        guard track.publish(made) else { return false }
        pictures = made
        return true
    }

    private func makePictures() throws(MediaFileError) -> CustomVideoTrack {
        let feedback = CustomVideoTrack.Feedback(
            keyFrameWanted: {},
            watchedChanged: { [isUnwatched] isWatched in
                isUnwatched.set(!isWatched)
            })
        guard !traits.isEmpty else { return CustomVideoTrack(makesKeyFrames: false, feedback: feedback) }
        do throws(HostError) {
            // The stream needn't state its frame rate: a low one would take too high a bit rate.
            return try CustomVideoTrack(picturesPerSecond: 60, feedback: feedback)
        } catch {
            throw .rejected(reason: "\(error)")
        }
    }

    private mutating func write(_ frame: CodedFrame, shown: Interval) throws(MediaFileError) {
        guard let pictures else { return }
        // Without sound, there is nothing to be in step with.
        let time = sound == nil ? nil : clock.place(picture: shown, arrival: .now())
        guard decoded != nil else {
            pictures.write(frame.withCaptureTime(time))
            return
        }
        let packet = StreamPacket(bytes: frame.bytes, isKeyFrame: frame.isRandomAccess, captureTime: time)
        try decoded?.take(packet, isWatched: !isUnwatched.isSet)
    }

    // MARK: Sound

    /// Makes the source for sound that is described so; after the first call, only its headers count from now on.
    /// Returns why the stream can't be published, or nil.
    package mutating func prepare(sound description: AudioDescription) -> PublisherRefusal? {
        guard !hasTriedSound else {
            newHeaders = description.headers
            return nil
        }
        hasTriedSound = true
        let made: SourceAudio
        do throws(MediaFileError) {
            made = try SourceAudio(description, feedback: CustomAudioTrack.Feedback()) { [log, name] fault in
                log.warning("\(name): a packet of sound is left out: \(fault)")
            }
        } catch {
            return .unusable("\(error)")
        }
        guard track.publish(made.track) else {
            log.warning("\(name): its sound is left out: the track has other sound")
            return nil
        }
        sound = made
        log.info("\(name) sends \(made.text)")
        describe()
        return nil
    }

    /// Passes on a packet of sound that has just arrived, and is heard from `heard` until `end` on the publisher's
    /// clock.
    package mutating func take(sound bytes: [UInt8], heard: Interval, until end: Interval) {
        guard sound != nil else { return }
        var packet = AudioPacket(bytes: bytes, headers: newHeaders)
        newHeaders = []
        packet.captureTime = clock.place(sound: heard, until: end, arrival: .now())
        sound?.take(packet)
    }
}
