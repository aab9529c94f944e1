import MediaSessions
import MediaTypes
import RTP
import Synchronization
import Testing
import TrackHub

@testable import WebRTC

/// A viewer of whole pictures of a source with sound, under a clock that only the test moves.
private final class FrameSoundRig {
    private final class Received: Sendable {
        let sounds = Mutex<[WholeAudio]>([])
    }

    private(set) var now = MonotonicTime(nanoseconds: 5_000_000_000_000)
    let track: RigTrack
    var viewer: FrameViewer
    private let received = Received()
    private var played: UInt8 = 0

    init() {
        let origin = now - .seconds(60)
        let pictures = RigTrack(origin: origin)
        track = RigTrack(origin: origin, kind: .audio)
        let received = self.received
        let request = FrameRequest(
            id: MediaSessionID(rawValue: 1), hub: pictures.hub, sound: track.hub, client: "192.0.2.1",
            clock: Rig.clock, openedAt: now, sink: { _ in },
            soundSink: { sound in received.sounds.withLock { $0.append(sound) } },
            onEnd: { _ in })
        viewer = FrameViewer(request, feed: pictures.feed)
    }

    /// What the viewer was sent.
    var sounds: [WholeAudio] { received.sounds.withLock { $0 } }

    /// Publishes so many packets of 20 ms, each when it has just ended, and lets the thread see it after `delay`.
    /// Returns them with their capture times.
    @discardableResult
    func play(_ count: Int, delay: Interval = .zero) -> [(packet: [UInt8], captured: MonotonicTime)] {
        (0..<count).map { _ in
            played += 1
            let packet: [UInt8] = [0xFC, played, 7]
            let captured = now - .milliseconds(20)
            let frame = CodedFrame(
                bytes: [0, 0, 0, 1] + packet, units: [4..<7], isRandomAccess: true, captureTime: captured,
                format: TrackFormat(codec: .opus))
            track.hub.publish(frame, epoch: 1, arrival: now)
            wait(delay)
            if track.feed.update(now: now) { viewer.advance(now: now) }
            wait(.milliseconds(20))
            return (packet, captured)
        }
    }

    func wait(_ interval: Interval) { now = now + interval }

    /// Turns the sound on or off; the loop updates its feeds before it waits again.
    func setAudioEnabled(_ isOn: Bool) {
        viewer.setAudio(isOn ? track.feed : nil, now: now)
        if track.feed.update(now: now) { viewer.advance(now: now) }
    }
}

@Suite("The sound of a viewer of whole pictures")
struct WholeAudioSenderTests {
    @Test("comes packet by packet, as the track has it and with capture times, while the viewer wants it")
    func wanted() {
        let rig = FrameSoundRig()
        rig.play(3)
        #expect(rig.sounds.isEmpty && rig.track.source.watched.last != true, "nobody has asked for it")
        rig.wait(.seconds(1))
        rig.setAudioEnabled(true)
        rig.setAudioEnabled(true)
        #expect(rig.track.source.watched.last == true && rig.track.hub.viewers == 1)
        let played = rig.play(5)
        #expect(rig.sounds.map(\.bytes) == played.map(\.packet))
        #expect(
            rig.sounds.map(\.captureTime)
                == played.map { ($0.captured + Rig.clock.unixOffset).nanoseconds / 1000 })
        #expect(rig.viewer.statistics.sentSoundPackets == 5 && rig.viewer.statistics.framesSent == 0)

        rig.setAudioEnabled(false)
        rig.play(3)
        #expect(rig.sounds.count == 5 && rig.track.hub.viewers == 0 && rig.track.feed.sessionCount == 0)
        rig.wait(.seconds(1))
        rig.setAudioEnabled(true)
        rig.play(1)
        #expect(rig.sounds.count == 6 && rig.viewer.statistics.sentSoundPackets == 6)
        rig.viewer.leave(now: rig.now)
        #expect(rig.track.hub.viewers == 0 && rig.track.feed.sessionCount == 0)
    }

    @Test("isn't what was heard before a silence, nor what the sharer has muted meanwhile")
    func old() {
        let rig = FrameSoundRig()
        rig.play(1)
        rig.wait(.seconds(5))
        rig.setAudioEnabled(true)
        #expect(rig.sounds.isEmpty)
        rig.play(2)
        #expect(rig.sounds.count == 2 && rig.sounds.allSatisfy { $0.isHeard() })
        rig.track.hub.setPaused(true)
        #expect(rig.sounds.allSatisfy { !$0.isHeard() })
        rig.play(2)
        #expect(rig.sounds.count == 2)
        rig.track.hub.setPaused(false)
        rig.play(2)
        #expect(rig.sounds.count == 4 && rig.sounds.suffix(2).allSatisfy { $0.isHeard() })
    }

    @Test("is left out if the thread comes to it too late")
    func late() {
        let rig = FrameSoundRig()
        rig.setAudioEnabled(true)
        rig.play(1, delay: AudioSender.maxWait)
        #expect(rig.sounds.count == 1)
        rig.play(1, delay: AudioSender.maxWait + .milliseconds(1))
        #expect(rig.sounds.count == 1 && rig.viewer.statistics.sentSoundPackets == 1)
        rig.play(1)
        #expect(rig.sounds.count == 2)
    }
}
