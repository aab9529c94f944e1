import CaptureLink
import Ingest
import MediaTypes
import Recording
import RecordingFiles
import TestSupport
import Testing
import Threading
import TrackHub

@testable import ScreenRelayKit
@testable import WebRTC

@Suite("A publisher's sound")
struct PublishedAudioTests {
    private func frame(_ packet: [UInt8], at time: MonotonicTime) -> PublishedFrame {
        PublishedFrame(
            codec: .opus, units: [[0, 0, 0, 1] + packet], isRandomAccess: true, hasMedia: true, captureTime: time,
            arrival: time)
    }

    @Test("reaches the track's listeners byte for byte and at its own pace, until the publisher leaves")
    func passes() throws {
        let source = try #require(PublishedSource(log: .silent))
        let hub = TrackHub(origin: now())
        let reader = hub.subscribe {}
        let start = now()
        // Nothing is kept of what comes before the track is known.
        source.receive(frame([0xFC, 9], at: start))
        source.sound.connect(to: hub, recorder: nil)
        #expect(hub.sourceState == .waiting)
        let packets: [[UInt8]] = (0..<5).map { [0xFC, $0, 1, 2, 3] }
        for (index, packet) in packets.enumerated() {
            source.receive(frame(packet, at: start + .milliseconds(20) * Int64(index)))
        }
        source.receive(frame([0xFF, 0], at: start + .milliseconds(100)))
        let frames = reader.take()
        #expect(frames.map { Array($0.coded.bytes.dropFirst(4)) } == packets)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks == 960 })
        #expect(hub.sourceState == .live)

        source.end(reason: "enough")
        guard case .gone(_, "enough") = hub.sourceState else {
            Issue.record("\(hub.sourceState)")
            return
        }
        source.receive(frame([0xFC, 9], at: now()))
        #expect(reader.take().isEmpty)
    }

    @Test("is recorded byte for byte beside the pictures, but not while the sharer mutes it, or another sound is heard")
    func recorded() throws {
        let folder = try TemporaryFolder()
        let recorder = try LinkRecorder(path: folder.file("sound.srr"), log: .silent)
        let hub = TrackHub(origin: now())
        let (sound, other) = (PublishedAudio(), PublishedAudio())
        sound.connect(to: hub, recorder: recorder)
        other.connect(to: hub, recorder: recorder)
        let start = now()
        func receive(_ number: UInt8) {
            sound.receive(frame([0xFC, number], at: start + .milliseconds(20) * Int64(number)))
            other.receive(frame([0xFC, 100 + number], at: start + .milliseconds(20) * Int64(number)))
        }
        receive(1)
        hub.setPaused(true, now: start)
        receive(2)
        hub.setPaused(false, now: start)
        receive(3)
        sound.end(reason: "enough", now: now())
        recorder.close()

        let file = try RecordedFile(path: folder.file("sound.srr"))
        var messages: [(body: LinkMessage, time: MonotonicTime?)] = []
        while let item = try file.next() {
            guard case .message(let message, .toHost) = item.content else { continue }
            #expect(message.header.stream == MessageHeader.soundStream)
            messages.append((try #require(try message.received()).body, message.header.captureTime))
        }
        #expect(
            messages.map(\.body) == [.format(.opus), .unit([0, 0, 0, 1, 0xFC, 1]), .unit([0, 0, 0, 1, 0xFC, 3])])
        #expect(messages.dropFirst().map(\.time) == [start + .milliseconds(20), start + .milliseconds(60)])
    }

    @Test("doesn't replace a sound that is there, follows it, and doesn't come after its publisher has left")
    func occupied() throws {
        let hub = TrackHub(origin: now())
        let first = PublishedAudio()
        let second = PublishedAudio()
        for sound in [first, second] {
            sound.connect(to: hub, recorder: nil)
            sound.receive(frame([0xFC, 1], at: now()))
        }
        #expect(hub.source === first)
        first.end(reason: "gone", now: now())
        first.receive(frame([0xFC, 1], at: now()))
        #expect(hub.source == nil)
        second.receive(frame([0xFC, 1], at: now()))
        #expect(hub.source === second && hub.sourceState == .live)
        second.end(reason: "gone", now: now())
        #expect(hub.source == nil)
    }
}
