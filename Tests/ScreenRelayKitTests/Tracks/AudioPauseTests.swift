import MediaTypes
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayKit

@Suite("A track's sound is held")
struct AudioPauseTests {
    private let hub: TrackHub
    private let source = PublishedAudio()
    private let hold: AudioPause

    init() {
        hub = TrackHub(origin: now())
        hold = AudioPause(hub)
        _ = hub.attach(source, now: now())
    }

    private var isHeld: Bool { hub.sourceState == .paused(.sharer) }

    private func packet(_ number: UInt8, captured: MonotonicTime) -> CodedFrame {
        CodedFrame(
            bytes: [0, 0, 0, 1, 0xF0, number], units: [4..<6], isRandomAccess: true, captureTime: captured,
            format: TrackFormat(codec: .opus), attachment: .lasts(.milliseconds(10)))
    }

    @Test("while the capture of its pictures pauses by itself or ends paused, but not for a hidden window")
    func followsPictures() {
        hold.picturesChanged(to: .paused(.windowHidden))
        #expect(!isHeld)
        for reason in [PauseReason.screenLocked, .sharer] {
            hold.picturesChanged(to: .paused(reason))
            #expect(isHeld)
            hold.picturesChanged(to: .gone(since: now(), reason: "killed"))
            #expect(isHeld)
            hold.picturesChanged(to: .live)
            #expect(!isHeld)
        }
    }

    @Test("on while the screen stays locked behind a pause of the host's, and no longer")
    func lockedBehindPause() {
        hold.picturesChanged(to: .paused(.screenLocked))
        hold.change(isPaused: true, isMuted: false, order: 1)
        hold.picturesChanged(to: .paused(.sharer))
        hold.change(isPaused: false, isMuted: false, order: 2)
        #expect(isHeld)
        hold.picturesChanged(to: .live)
        #expect(!isHeld)
        // It may be told of the lock before the end of the pause.
        hold.change(isPaused: true, isMuted: false, order: 3)
        hold.picturesChanged(to: .paused(.screenLocked))
        hold.change(isPaused: false, isMuted: false, order: 4)
        #expect(isHeld)
    }

    @Test("by the host until it says otherwise, whatever the pictures do, and by the later of two orders")
    func host() {
        hold.change(isPaused: true, isMuted: false, order: 1)
        hold.picturesChanged(to: .paused(.sharer))
        hold.picturesChanged(to: .gone(since: now(), reason: "killed"))
        #expect(isHeld)
        hold.change(isPaused: false, isMuted: false, order: 2)
        #expect(!isHeld)
        hold.change(isPaused: false, isMuted: true, order: 4)
        hold.change(isPaused: false, isMuted: false, order: 3)
        hold.picturesChanged(to: .live)
        #expect(isHeld)
    }

    @Test("and what was captured before it goes on is not heard afterwards either")
    func before() {
        let reader = hub.subscribe {}
        hold.change(isPaused: false, isMuted: true, order: 1)
        let during = now()
        hold.change(isPaused: false, isMuted: false, order: 2)
        let after = now()
        for (number, captured) in [(1, during), (2, after)] as [(UInt8, MonotonicTime)] {
            hub.deliver(packet(number, captured: captured), from: source, epoch: 1, arrival: after)
        }
        #expect(reader.take().map { $0.coded.bytes.last } == [2])
    }
}
