import Clocks
import MediaFiles
import MediaTypes
import Pulling
import RTMP
import ScreenRelayKit
import Threading
import VideoDecoding

/// Feeds a track from one publisher: pictures and sound in step, in the formats that tracks carry.
///
/// Belongs to the publisher's thread.
struct PublisherRelay {
    let track: HostedTrack
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
    /// Whether a picture was shown at another time than it is decoded.
    private var reorders = false
    /// Nil if there is none, so far, or the track accepts none.
    private var sound: SourceAudio?
    private var configuration: AACConfiguration?
    /// A configuration that the decoder hasn't got yet.
    private var newHeaders: [UInt8] = []
    private var clock = SourceClock()

    /// - Parameter name: what lines of the log begin with.
    init(_ name: String, into track: HostedTrack, log: EventLog) {
        (self.name, self.track, self.log) = (name, track, log)
    }

    /// Passes on what has just arrived. Returns why the stream can't be published, or nil.
    mutating func take(_ media: RTMPMedia, encoder: String?) -> RTMPRefusal? {
        do throws(MediaFileError) {
            switch media {
            case .picture(let frame, let decoded, let shown):
                reorders = reorders || decoded != shown
                if frame.isRandomAccess, try !prepare(for: frame, encoder) { return .occupied(track) }
                try write(frame, shown: shown)
            case .audioConfiguration(let configuration): try prepareSound(configuration)
            case .audio(let bytes, let heard): write(sound: bytes, heard: heard)
            }
            return nil
        } catch {
            return .unusable("\(error)")
        }
    }

    /// Leaves the track.
    mutating func end(reason: String) {
        sound?.track.end(reason: reason)
        pictures?.end(reason: reason)
        track.describe(nil)
    }

    /// Reports what is published and what becomes of it.
    private func describe() {
        let text = [pictureText, sound?.text].compactMap(\.self).joined(separator: ", and ")
        track.describe(TrackPublication(transport: "RTMP", text: text, isReencoded: decoded != nil))
    }

    // MARK: Pictures

    /// Makes the source for frames from this key frame on, unless it is the same as before. Returns false if the track
    /// has another source.
    private mutating func prepare(for frame: CodedFrame, _ encoder: String?) throws(MediaFileError) -> Bool {
        let traits = H264Traits(byteStream: frame.bytes, reorders: reorders).words
        if pictures != nil, traits == self.traits { return true }
        pictures?.end(reason: "the publisher sends other pictures")
        (pictures, decoded, self.traits) = (nil, nil, traits)
        isUnwatched.set(false)
        let made = try makePictures()
        if !traits.isEmpty {
            decoded = try DecodedSource(.h264(traits: traits), into: made) { [log, name] fault in
                log.warning("\(name): dropping frames until the next key frame: \(fault)")
            }
        }
        guard track.publish(made) else { return false }
        pictures = made
        let size = frame.format?.size.map { " of \($0.width)x\($0.height)" } ?? ""
        let words = traits.map { " " + $0 }.joined()
        let effect = traits.isEmpty ? "" : ", which is re-encoded"
        let text = "H.264\(size)\(words)\(effect)"
        pictureText = text
        log.info("\(name) sends \(text)" + (encoder.map { ", with \($0)" } ?? ""))
        if decoded != nil {
            log.warning(
                "\(name): re-encoding H.264\(words) takes CPU time and adds delay; turn off B-frames at the sender (in "
                    + "OBS, the x264 option bframes=0), and send 8 bits per sample in 4:2:0")
        }
        describe()
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

    private mutating func prepareSound(_ configuration: AACConfiguration) throws(MediaFileError) {
        let isFirst = self.configuration == nil
        self.configuration = configuration
        guard isFirst else {
            newHeaders = configuration.bytes
            return
        }
        var description = AudioDescription(codec: "aac", rate: 0, channelCount: configuration.isMono ? 1 : 0)
        description.headers = configuration.bytes
        let made = try SourceAudio(description, feedback: CustomAudioTrack.Feedback()) { [log, name] fault in
            log.warning("\(name): a packet of sound is left out: \(fault)")
        }
        guard track.publish(made.track) else {
            return log.warning("\(name): its sound is left out: the track has other sound")
        }
        sound = made
        log.info("\(name) sends \(made.text)")
        describe()
    }

    private mutating func write(sound bytes: [UInt8], heard: Interval) {
        guard sound != nil, let configuration else { return }
        var packet = AudioPacket(bytes: bytes, headers: newHeaders)
        newHeaders = []
        packet.captureTime = clock.place(
            sound: heard, until: heard + configuration.frameDuration, arrival: .now())
        sound?.take(packet)
    }
}
