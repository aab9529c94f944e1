import CaptureLink
import Testing

@testable import TrackHub

@Suite("who carries a track")
struct TrackCarrierTests {
    @Test("is the source, until the host's own encoder makes an IDR picture")
    func takenOver() {
        var carrier = TrackCarrier()
        let first = carrier.takesFromSource(isIDR: false)
        #expect(first)
        // There is nothing to decode this picture from.
        let early = carrier.takesFromHost(isIDR: false, number: 1)
        #expect(!early)
        let taken = carrier.takesFromHost(isIDR: true, number: 1)
        #expect(taken)
        #expect(carrier.isCarriedByHost)
        let held = carrier.takesFromSource(isIDR: false)
        #expect(!held)
        let next = carrier.takesFromHost(isIDR: false, number: 2)
        #expect(next)
        #expect(carrier.delivered == 2)
    }

    @Test("is the source again from its next IDR picture on, whatever the host makes of older ones")
    func booleanSwitches() {
        var carrier = TrackCarrier()
        _ = carrier.takesFromSource(isIDR: false)
        _ = carrier.takesFromHost(isIDR: true, number: 1)
        let taken = carrier.takesFromSource(isIDR: true)
        #expect(taken)
        #expect(!carrier.isCarriedByHost)
        for isIDR in [false, true] {
            let late = carrier.takesFromHost(isIDR: isIDR, number: 1)
            #expect(!late)
        }
        let newer = carrier.takesFromHost(isIDR: true, number: 2)
        #expect(newer)
    }

    @Test("is nobody while the sharer pauses a source that doesn't by itself")
    func paused() {
        var carrier = TrackCarrier()
        _ = carrier.takesFromSource(isIDR: true)
        _ = carrier.gate.hold(true)
        let fromSource = carrier.takesFromSource(isIDR: true)
        let fromHost = carrier.takesFromHost(isIDR: true, number: 2)
        #expect(!fromSource && !fromHost)
        #expect(!carrier.isCarriedByHost)
        _ = carrier.gate.hold(false)
        let before = carrier.takesFromSource(isIDR: false)
        let idr = carrier.takesFromHost(isIDR: true, number: 3)
        #expect(!before && idr)
    }

    @Test("says of the pointer what changes, and what the first picture shows")
    func pointer() {
        var carrier = TrackCarrier()
        let changes = [false, false, true, true, false].map { carrier.publishes(isPointerDrawn: $0) }
        #expect(changes == [true, false, true, false, true])
    }

    @Test("shows nothing from before a pause, also once the slate has come and before it is decoded")
    func slate() {
        var carrier = TrackCarrier()
        _ = carrier.takesFromSource(isIDR: true)
        #expect(carrier.shows(1))
        carrier.gate.sourceSays(.paused)
        #expect(!carrier.shows(1))
        let late = carrier.takesFromSource(isIDR: false)
        let slate = carrier.takesFromSource(isIDR: true)
        #expect(!late && slate)
        #expect(!carrier.shows(1) && !carrier.shows(2))
        #expect(carrier.shows(3) && carrier.shows(4))
    }
}
