import Testing

@testable import Ingest

@Suite("who carries a track")
struct TrackWayTests {
    @Test("is the source, until the host's own encoder makes an IDR picture")
    func takenOver() {
        var way = TrackWay()
        let first = way.takesFromSource(isIDR: false)
        #expect(first)
        // There is nothing to decode this picture from.
        let early = way.takesFromHost(isIDR: false, number: 1)
        #expect(!early)
        let taken = way.takesFromHost(isIDR: true, number: 1)
        #expect(taken)
        #expect(way.isCarriedByHost)
        let held = way.takesFromSource(isIDR: false)
        #expect(!held)
        let next = way.takesFromHost(isIDR: false, number: 2)
        #expect(next)
        #expect(way.delivered == 2)
    }

    @Test("is the source again from its next IDR picture on, whatever the host makes of older ones")
    func booleanSwitches() {
        var way = TrackWay()
        _ = way.takesFromSource(isIDR: false)
        _ = way.takesFromHost(isIDR: true, number: 1)
        let taken = way.takesFromSource(isIDR: true)
        #expect(taken)
        #expect(!way.isCarriedByHost)
        for isIDR in [false, true] {
            let late = way.takesFromHost(isIDR: isIDR, number: 1)
            #expect(!late)
        }
        let newer = way.takesFromHost(isIDR: true, number: 2)
        #expect(newer)
    }

    @Test("is nobody while the sharer pauses a source that doesn't by itself")
    func paused() {
        var way = TrackWay()
        _ = way.takesFromSource(isIDR: true)
        _ = way.gate.hold(true)
        let fromSource = way.takesFromSource(isIDR: true)
        let fromHost = way.takesFromHost(isIDR: true, number: 2)
        #expect(!fromSource && !fromHost)
        #expect(!way.isCarriedByHost)
        _ = way.gate.hold(false)
        let before = way.takesFromSource(isIDR: false)
        let idr = way.takesFromHost(isIDR: true, number: 3)
        #expect(!before && idr)
    }

    @Test("says of the pointer what changes, and what the first picture shows")
    func pointer() {
        var way = TrackWay()
        let changes = [false, false, true, true, false].map { way.publishes(isPointerDrawn: $0) }
        #expect(changes == [true, false, true, false, true])
    }
}
