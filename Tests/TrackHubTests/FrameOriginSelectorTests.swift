import CaptureLink
import Testing

@testable import TrackHub

@Suite("who carries a track")
struct TrackCarrierTests {
    @Test("is the source, until the host's own encoder makes an IDR picture")
    func takenOver() {
        var origin = FrameOriginSelector()
        let first = origin.admitSourceFrame(isIDR: false)
        #expect(first)
        // There is nothing to decode this picture from.
        let early = origin.admitFallbackFrame(isIDR: false, number: 1)
        #expect(!early)
        let taken = origin.admitFallbackFrame(isIDR: true, number: 1)
        #expect(taken)
        #expect(origin.isFallbackActive)
        let held = origin.admitSourceFrame(isIDR: false)
        #expect(!held)
        let next = origin.admitFallbackFrame(isIDR: false, number: 2)
        #expect(next)
        #expect(origin.delivered == 2)
    }

    @Test("is the source again from its next IDR picture on, whatever the host makes of older ones")
    func booleanSwitches() {
        var origin = FrameOriginSelector()
        _ = origin.admitSourceFrame(isIDR: false)
        _ = origin.admitFallbackFrame(isIDR: true, number: 1)
        let taken = origin.admitSourceFrame(isIDR: true)
        #expect(taken)
        #expect(!origin.isFallbackActive)
        for isIDR in [false, true] {
            let late = origin.admitFallbackFrame(isIDR: isIDR, number: 1)
            #expect(!late)
        }
        let newer = origin.admitFallbackFrame(isIDR: true, number: 2)
        #expect(newer)
    }

    @Test("is nobody while the sharer pauses a source that doesn't by itself")
    func paused() {
        var origin = FrameOriginSelector()
        _ = origin.admitSourceFrame(isIDR: true)
        _ = origin.gate.setPaused(true)
        let fromSource = origin.admitSourceFrame(isIDR: true)
        let fromHost = origin.admitFallbackFrame(isIDR: true, number: 2)
        #expect(!fromSource && !fromHost)
        #expect(!origin.isFallbackActive)
        _ = origin.gate.setPaused(false)
        let before = origin.admitSourceFrame(isIDR: false)
        let idr = origin.admitFallbackFrame(isIDR: true, number: 3)
        #expect(!before && idr)
    }

    @Test("says of the pointer what changes, and what the first picture shows")
    func pointer() {
        var origin = FrameOriginSelector()
        let changes = [false, false, true, true, false].map { origin.notePublished(isPointerDrawn: $0) }
        #expect(changes == [true, false, true, false, true])
    }

    @Test("shows nothing from before a pause, also once the slate has come and before it is decoded")
    func slate() {
        var origin = FrameOriginSelector()
        _ = origin.admitSourceFrame(isIDR: true)
        #expect(origin.shows(1))
        origin.gate.sourceSays(.paused)
        #expect(!origin.shows(1))
        let late = origin.admitSourceFrame(isIDR: false)
        let slate = origin.admitSourceFrame(isIDR: true)
        #expect(!late && slate)
        #expect(!origin.shows(1) && !origin.shows(2))
        #expect(origin.shows(3) && origin.shows(4))
    }
}
