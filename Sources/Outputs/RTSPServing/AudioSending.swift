import LinkTransport
import MediaTypes
import RTP
import RTSP
import ScreenRelayKit
import TrackHub

/// Sends a track's sound to one player: the Opus packets as they come, or what all players share of PCMU.
///
/// Where there is no room, sound waits for no more than the picture that is being sent.
final class AudioSending: PlayerSending {
    /// What has waited for longer than this isn't heard any more. A large picture may take a second.
    private static let latest = Interval.seconds(2)
    /// No packet is longer (RFC 6716 section 3.4), so that after a longer step there was a silence.
    private static let maxPacket = ClockRate.audio.ticks(in: .milliseconds(120))

    private let track: HostedTrack
    private let wake: PlayerWake
    /// How long it waits for sound before it sends silence.
    private let timeout: Interval
    private(set) var stream: PlayerStream
    /// Nil unless it plays.
    private var frames: TrackSubscription?
    /// The time of the last packet, on the stream's clock.
    private var last: MediaTime?
    private var silence = FirstSilence()
    /// Whether there was no room. Nothing is due then before there is some.
    private var isBlocked = false

    init(_ track: HostedTrack, _ stream: PlayerStream, wake: PlayerWake, timeout: Interval) {
        self.track = track
        self.stream = stream
        self.wake = wake
        self.timeout = timeout
    }

    var deadline: MonotonicTime {
        frames == nil ? .distantFuture : min(stream.deadline, isBlocked ? .distantFuture : silence.due)
    }

    func play(now: MonotonicTime) -> MonotonicTime? {
        let frames = track.subscribeToSound { [wake] in wake.signal() }
        // It begins with what comes from now on. The track keeps its last packet, which is from before that, and which
        // this player may have had.
        _ = frames.take()
        self.frames = frames
        last = nil
        silence.begin(at: now, after: timeout)
        return nil
    }

    func takeReport(_ report: ReceptionReport, now: MonotonicTime) {
        // Each packet stands for itself: what is lost is a short gap.
    }

    func pause() {
        frames = nil
        silence.end()
        stream.forgetWaiting()
    }

    func advance(
        over connection: SocketConnection, _ ports: RTSPPorts, _ packets: inout PacketizedFrames, now: MonotonicTime
    ) throws(SocketError) {
        guard let frames else { return }
        try stream.flush(over: connection, ports, now: now)
        isBlocked = !stream.hasRoom(on: connection)
        guard !isBlocked else { return }
        // The track may have been muted since a packet came.
        for frame in frames.take() where now - frame.arrival <= Self.latest && frames.shows(frame) {
            silence.end()
            if stream.media == .pcmu {
                try sendPCMU(of: frame, over: connection, &packets)
            } else {
                try sendOpus(frame, over: connection)
            }
        }
        if let moment = silence.next(at: now) { try sendSilence(of: moment, over: connection) }
        try stream.flush(over: connection, ports, now: now)
    }

    private func sendSilence(of moment: MonotonicTime, over connection: SocketConnection) throws(SocketError) {
        guard let packet = stream.media.silence else { return }
        let time = stream.mediaTime(at: moment)
        let isFirst = last == nil
        last = time
        try stream.send(
            [.part(RTPPayload.Part(0..<packet.count))], of: packet, at: time, marked: isFirst ? 0 : nil,
            over: connection)
    }

    private func sendOpus(_ frame: TrackFrame, over connection: SocketConnection) throws(SocketError) {
        // Before what has been sent, no player takes it.
        if let last, frame.time <= last { return }
        let endsSilence = last.map { frame.time.ticks - $0.ticks > Self.maxPacket } ?? true
        last = frame.time
        // Whole, even if it is too long for the datagrams of WebRTC: neither the connection nor UDP has their limit.
        let payloads = frame.coded.units.prefix(1).map { RTPPayload.part(RTPPayload.Part($0)) }
        try stream.send(
            payloads, of: frame.coded.bytes, at: frame.time, marked: endsSilence ? 0 : nil, over: connection)
    }

    private func sendPCMU(
        of frame: TrackFrame, over connection: SocketConnection, _ packets: inout PacketizedFrames
    ) throws(SocketError) {
        for packet in packets.pcmu(of: frame, track: track) {
            // Between two packets there may be a silence, or something that was lost.
            if let last, packet.time <= last { continue }
            let isNext = last.map { $0 + Int64(PCMUAudio.sampleCount) == packet.time } ?? false
            last = packet.time
            try stream.send(
                [.part(RTPPayload.Part(0..<packet.bytes.count))], of: packet.bytes, at: packet.time,
                marked: isNext ? nil : 0, over: connection)
        }
    }
}
