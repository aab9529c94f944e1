import MediaTypes

/// A track of a room: pictures, and perhaps their sound.
///
/// Its media are received while there are readers, by one session with the host, however many there are. Each reader
/// has a bounded queue, and loses frames up to the next key frame if it is too slow. While the client reconnects,
/// readers wait. They end with the track, with the client, or with their task.
public struct RoomTrack: Hashable, Sendable {
    /// Its name in the room; empty at a WHEP endpoint.
    public let name: String
    let room: RoomClient

    /// The coded frames of its pictures as the host sends them, beginning with a key frame: in H.264, access units in
    /// Annex B form.
    public var frames: RoomFrames { RoomFrames(track: name, kind: .video, room: room) }
    /// Its decoded pictures. Decoding happens in the task that iterates.
    public var pictures: RoomPictures { RoomPictures(frames: frames) }
    /// The Opus packets of its sound.
    public var soundFrames: RoomFrames { RoomFrames(track: name, kind: .audio, room: room) }
    /// Its decoded sound. Decoding happens in the task that iterates.
    ///
    /// - Parameter channelCount: 1 or 2.
    public func soundSamples(channelCount: Int = 2) -> RoomSamples {
        RoomSamples(frames: soundFrames, channelCount: channelCount)
    }

    public static func == (left: RoomTrack, right: RoomTrack) -> Bool {
        left.name == right.name && left.room === right.room
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
