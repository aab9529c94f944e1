import MediaSessions
import MediaTypes
import Signalling
import TestSupport
import Testing
import Threading
import TrackHub

@testable import ScreenRelayKit
@testable import WebRTC

@Suite("Tracks that pages present")
struct PresentedTrackTests {
    @Test("a page makes a track of its own, and can't send into the tracks of the host, which may be recorded")
    func hostsTracks() throws {
        let media = try MediaServer.onAnyPort()
        defer { media.stop() }
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let publishing = RoomPublishing(media: media, log: .silent)
        publishing.connect(host)
        func present(_ track: String) throws -> MediaSessionID {
            let ann = Presenter(name: "Ann")
            return try publishing.publish(
                offer: PublisherOffers.obs, room: host.room, track: track, presenter: ann, onEnd: { _ in }
            ).id
        }
        let first = host.firstTrack
        let refusal = "the track \(first.name) isn't one for pages; share under another name"
        #expect(throws: PublishingError.taken(refusal)) { try present(first.name) }
        #expect(first.sourceState != .live)
        _ = try present("screen-1")
        #expect(host.tracks.map(\.name) == [first.name, "screen-1"])
        #expect(host.tracks.last?.sourceState == .live)
    }
}
