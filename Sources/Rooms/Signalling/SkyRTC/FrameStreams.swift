import MediaSessions
import MediaTypes
import Rooms

/// A member's reply about the pictures on its WebSocket.
enum FrameReply {
    /// `__frames_seen`: its decoder has all pictures up to this number.
    case seen(UInt32)
    /// `__frames_key`.
    case needsKeyPicture
    /// `__frames_sound`: whether it wants the sound, too.
    case wantsSound(Bool)
    /// `__frames_heard`: it has the sound up to this number.
    case heard(UInt32)
    /// `__frames_stop`.
    case stop

    private static let seenStart = "{\"eventName\":\"__frames_seen\",\"data\":{\"number\":"
    private static let heardStart = "{\"eventName\":\"__frames_heard\",\"data\":{\"number\":"

    /// Reads a confirmation in exactly the page's form; nil for any other text. Every viewer confirms each picture, so
    /// confirmations aren't decoded like other messages, with a look for each key that a message can have.
    init?(confirmation text: String) {
        if let number = Self.number(in: text, after: Self.seenStart) {
            self = .seen(number)
        } else if let number = Self.number(in: text, after: Self.heardStart) {
            self = .heard(number)
        } else {
            return nil
        }
    }

    private static func number(in text: String, after start: String) -> UInt32? {
        guard text.utf8.starts(with: start.utf8), text.utf8.suffix(2).elementsEqual("}}".utf8) else { return nil }
        let digits = text.utf8.dropFirst(start.utf8.count).dropLast(2)
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(Substring(digits))
    }
}

/// The pictures on a member's WebSocket, and the sound if the member wants sound.
struct FrameStream {
    let track: TrackName
    /// Identifies the stream among all of the site's.
    let key: UInt64
    /// The number of the last picture that the member has confirmed.
    var seen: UInt32 = 0
    /// Whether the member wants the sound.
    var hasSound = false
}

/// Pictures and sound over the members' WebSockets (`Protocol/rooms.md`): passes them on from the media layer, and the
/// confirmations of pictures back.
final class FrameStreams {
    private let rooms: HostRooms
    private let sessionEnds: SessionEnds
    private let post: Post<FrameStreams>
    private var lastKey: UInt64 = 0

    init(rooms: HostRooms, sessionEnds: SessionEnds, post: @escaping Post<FrameStreams>) {
        self.rooms = rooms
        self.sessionEnds = sessionEnds
        self.post = post
    }

    /// Opens a member's session for a track, and tells the member. The member has no other stream.
    func open(
        _ track: TrackName, at media: any RoomMedia, for member: RoomMember,
        onEnd: @escaping (_ reason: String) -> Void
    ) throws(MediaSessionError) {
        lastKey += 1
        let (key, id) = (lastKey, member.id)
        let (session, endKey) = try sessionEnds.expect(onEnd) { [post] (onEnd) throws(MediaSessionError) in
            try media.openFrames(
                for: member.address, sink: { picture in post { $0.send(picture, to: id, key) } },
                soundSink: { sound in post { $0.send(sound, to: id, key) } }, onEnd: onEnd)
        }
        member.sessions[track] = ClientSession(id: session, key: endKey, side: media.sessions)
        member.frames = FrameStream(track: track, key: key)
        member.socket.beginSound()
        member.socket.send(SkyRTCReply(frames: track).text)
        // The answer measures the round trip before the first picture, which may take long.
        let side = media.sessions
        member.socket.ping { side.confirmPictures(of: session, through: 0) }
    }

    private func send(_ picture: WholePicture, to id: MemberID, _ key: UInt64) {
        guard let member = rooms[id], member.frames?.key == key else { return }
        member.socket.send(picture)
    }

    private func send(_ sound: WholeAudio, to id: MemberID, _ key: UInt64) {
        guard let member = rooms[id], let stream = member.frames, stream.key == key, stream.hasSound else { return }
        member.socket.send(sound)
    }

    /// Handles a member's reply. Returns the track whose stream is to end, if the member requests it.
    func take(_ reply: FrameReply, from member: RoomMember) -> TrackName? {
        guard let stream = member.frames, let session = member.sessions[stream.track] else { return nil }
        switch reply {
        case .seen(let number):
            // Pictures that still wait here can't be confirmed: more would be sent, and wait too.
            guard number > stream.seen, number <= member.socket.begunPicture else { return nil }
            member.frames?.seen = number
            member.socket.refundMessage()
            session.side.confirmPictures(of: session.id, through: number)
        case .wantsSound(let isOn):
            guard isOn != stream.hasSound else { return nil }
            member.frames?.hasSound = isOn
            if !isOn { member.socket.dropSound() }
            session.side.setAudioEnabled(isOn, for: session.id)
        case .heard(let number): if member.socket.confirmSound(through: number) { member.socket.refundMessage() }
        case .needsKeyPicture: session.side.requestKeyPicture(for: session.id)
        case .stop: return stream.track
        }
        return nil
    }

    /// Forgets a member's stream if it is of this track: its session is over.
    func forget(_ track: TrackName, of member: RoomMember) {
        guard member.frames?.track == track else { return }
        member.frames = nil
        member.socket.dropFrames()
    }
}

extension WholePicture {
    /// The header before the picture in its message.
    var header: [UInt8] {
        frameHeader(flags: (isKeyPicture ? 1 : 0) | (isPointerDrawn ? 2 : 0), number, captureTime)
    }
}

extension WholeAudio {
    /// The header before the packet in its message.
    func header(number: UInt32) -> [UInt8] { frameHeader(flags: 4, number, captureTime) }
}

/// The header of a message with a picture or with sound (`Protocol/rooms.md`):
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +---------------+---------------+-------------------------------+
///     |  version (1)  |         |S|P|K|               0               |
///     +---------------+---------------+-------------------------------+
///     |                            number                             |
///     +---------------------------------------------------------------+
///     |         capture time, microseconds since 1970 (64 bits)       |
///     |                                                               |
///     +---------------------------------------------------------------+
private func frameHeader(flags: UInt8, _ number: UInt32, _ captureTime: Int64) -> [UInt8] {
    var bytes: [UInt8] = [1, flags, 0, 0]
    bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    let time = UInt64(max(0, captureTime))
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
    return bytes
}
