import MediaTypes
import Pulling
import RTMP
import ScreenRelayKit
import Threading

/// Feeds a track from one RTMP publisher. Belongs to the publisher's thread.
struct RTMPRelay {
    private var relay: PublisherRelay
    private var configuration: AACConfiguration?

    /// - Parameter name: what lines of the log begin with.
    init(_ name: String, into track: HostedTrack, log: EventLog) {
        relay = PublisherRelay(name, over: .rtmp, into: track, log: log)
    }

    /// Passes on what has just arrived. Returns why the stream can't be published, or nil.
    mutating func take(_ media: RTMPMedia, encoder: String?) -> RTMPRefusal? {
        let refusal: PublisherRefusal?
        switch media {
        case .picture(let frame, let decoded, let shown):
            refusal = relay.take(picture: frame, decoded: decoded, shown: shown, encoder: encoder)
        case .audioConfiguration(let configuration):
            self.configuration = configuration
            var description = AudioDescription(codec: "aac", rate: 0, channelCount: configuration.isMono ? 1 : 0)
            description.headers = configuration.bytes
            refusal = relay.prepare(sound: description)
        case .audio(let bytes, let heard):
            guard let configuration else { return nil }
            relay.take(sound: bytes, heard: heard, until: heard + configuration.frameDuration)
            refusal = nil
        }
        return refusal.map { RTMPRefusal($0) }
    }

    /// Leaves the track.
    mutating func end(reason: String) { relay.end(reason: reason) }
}

extension RTMPRefusal {
    init(_ refusal: PublisherRefusal) {
        switch refusal {
        case .unauthorized: self = .unauthorized
        case .taken: self = .taken("\(refusal); the stream key ROOM/TRACK?token=TOKEN makes another track")
        case .full(let reason), .unusable(let reason): self = .unusable(reason)
        }
    }
}
