import Synchronization
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("A followed track")
struct FollowedTrackTests {
    @Test("is the one of its name, from when it is added until it is removed, and each change is told")
    func changes() throws {
        let host = try ScreenRelayHost(HostConfiguration.anyPorts)
        defer { host.stop() }
        let film = host.followedTrack("film", in: host.room)
        let told = Mutex(0)
        let end = film.subscribe { told.withLock { $0 += 1 } }
        #expect(film.current == nil)
        var tracks: [HostedTrack] = []
        for round in 1...2 {
            let track = try host.addTrack("film", to: host.room)
            #expect(film.current === track)
            #expect(told.withLock({ $0 }) == 2 * round - 1)
            host.removeTrack("film", from: host.room)
            #expect(film.current == nil)
            #expect(told.withLock({ $0 }) == 2 * round)
            tracks.append(track)
        }
        #expect(FollowedTrack(tracks[0]).current === tracks[0])
        end()
        _ = try host.addTrack("film", to: host.room)
        #expect(told.withLock({ $0 }) == 4)
        let screen = host.followedTrack(ScreenRelayHost.firstTrackName, in: host.room)
        host.removeTrack(ScreenRelayHost.firstTrackName, from: host.room)
        #expect(screen.current === host.firstTrack)
        withExtendedLifetime(tracks) {}
    }
}
