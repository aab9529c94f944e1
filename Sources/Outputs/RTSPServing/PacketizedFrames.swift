import MediaTypes
import RTP
import ScreenRelayKit
import TrackHub

/// The newest frame of each track as packets, and its sound as PCMU, so that they are made once for all players.
struct PacketizedFrames {
    private struct Newest {
        let track: HostedTrack
        let number: UInt64
        let packets: PacketizedFrame
    }

    private var newest: [Newest] = []
    private var sounds: [(track: HostedTrack, sound: PCMUAudio)] = []
    private let packetizer = TrackFormat.Codec.h264.packetizer

    mutating func packets(of frame: TrackFrame, track: HostedTrack) -> PacketizedFrame {
        let place = newest.firstIndex { $0.track === track }
        if let place, newest[place].number == frame.number { return newest[place].packets }
        let made = packetizer.packetize(frame.coded, at: frame.time, format: frame.format)
        let entry = Newest(track: track, number: frame.number, packets: made)
        if let place { newest[place] = entry } else { newest.append(entry) }
        return made
    }

    /// The packets of PCMU that a packet of a track's sound completes.
    mutating func pcmu(of frame: TrackFrame, track: HostedTrack) -> [PCMUAudio.Packet] {
        if let entry = sounds.first(where: { $0.track === track }) { return entry.sound.packets(of: frame) }
        guard let sound = PCMUAudio() else { return [] }
        sounds.append((track, sound))
        return sound.packets(of: frame)
    }

    /// Forgets the tracks that no player has any more.
    mutating func keep(only tracks: [HostedTrack]) {
        newest.removeAll { entry in !tracks.contains { $0 === entry.track } }
        sounds.removeAll { entry in !tracks.contains { $0 === entry.track } }
    }
}
