import Ingest
import MediaSessions
import MediaTypes
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub
import X264Encoding

@testable import ScreenRelayKit
@testable import WebRTC

@Suite("Tracks that are published")
struct PublishedTrackTests {
    /// A host's tracks, of which the first is "screen".
    private final class Tracks: PublishableTracks {
        let made = Mutex<[String: HostedTrack]>([:])
        /// Is done each time before a track is given.
        let before = Mutex<(@Sendable () -> Void)?>(nil)
        let removed = Mutex<[String]>([])
        let media: MediaServer

        init(_ media: MediaServer) { self.media = media }

        func publishableTrack(_ name: String, in room: String) throws(HostError) -> HostedTrack {
            before.withLock { $0 }?()
            if let track = track(name) { return track }
            let track = try HostedTrack(name, room: room, media: media, signalling: .unused, log: .silent)
            made.withLock { $0[name] = track }
            return track
        }

        func removeUnpublished(_ name: String, from room: String) { removed.withLock { $0.append("\(room)/\(name)") } }

        func track(_ name: String) -> HostedTrack? { made.withLock { $0[name] } }
    }

    /// What is to be done later: when the test says so.
    private final class Agenda: Sendable {
        private struct Entry: Sendable {
            let time: Interval
            let action: @Sendable () -> Void
        }

        private let entries = Mutex<[Entry]>([])

        func add(_ time: Interval, _ action: @escaping @Sendable () -> Void) {
            entries.withLock { $0.append(Entry(time: time, action: action)) }
        }

        /// Waits until there is something to do, does it, and gives the time that should have gone by before.
        func runNext() throws -> Interval {
            let next = try eventually("something to do later") {
                entries.withLock { entries -> Entry? in entries.isEmpty ? nil : entries.removeFirst() }
            }
            next.action()
            return next.time
        }
    }

    private let media: MediaServer
    private let tracks: Tracks
    private let publishing: RoomPublishing

    init() throws {
        media = try MediaServer.onAnyPort()
        tracks = Tracks(media)
        publishing = RoomPublishing(media: media, timeout: .milliseconds(50), log: .silent)
        publishing.connect(tracks)
    }

    private func publish(_ track: String, offer: String = PublisherOffers.obs) throws -> MediaSessionID {
        try publishing.publish(offer: offer, room: "desk", track: track) { _ in }.id
    }

    private func refusal(_ track: String, offer: String = PublisherOffers.obs) -> PublishingError? {
        do {
            _ = try publish(track, offer: offer)
            return nil
        } catch {
            return error as? PublishingError
        }
    }

    @Test("a publisher makes its track, a second one is refused, and after it has left another may come at once")
    func life() throws {
        defer { media.stop() }
        let first = try publish("camera")
        let track = try #require(tracks.track("camera"))
        #expect(track.sourceState == .live)
        guard case .taken = refusal("camera") else {
            Issue.record("a second publisher was let in")
            return
        }
        #expect(refusal("other") == nil)
        let source = try #require(track.ingest.hub.source)
        publishing.close(first)
        _ = try publish("camera")
        try eventually("the next publisher") { track.ingest.hub.source.map { $0 !== source } ?? false }
        #expect(track.sourceState == .live)
        #expect(tracks.track("camera") === track)
        publishing.close(first)
        #expect(track.sourceState == .live)
    }

    @Test("a session that ends before its track has it leaves nothing behind")
    func endedEarly() throws {
        let agenda = Agenda()
        let publishing = RoomPublishing(media: media, schedule: { agenda.add($0, $1) }, log: .silent)
        publishing.connect(tracks)
        let ended = Mutex(false)
        tracks.before.withLock { [media] in
            $0 = {
                media.stop()
                try? eventually("the session's end") { ended.withLock { $0 } }
            }
        }
        _ = try? publishing.publish(offer: PublisherOffers.obs, room: "desk", track: "camera") { _ in
            ended.withLock { $0 = true }
        }
        #expect(ended.withLock { $0 })
        #expect(try agenda.runNext() == RoomPublishing.timeout)
        #expect(tracks.removed.withLock { $0 } == ["desk/camera"])
        let track = try #require(tracks.track("camera"))
        try eventually("the track to be free") { track.sourceState != .live }
    }

    @Test("a track that was made for a publisher whom it couldn't take goes again")
    func refusedTrack() throws {
        defer { media.stop() }
        let agenda = Agenda()
        let publishing = RoomPublishing(media: media, schedule: { agenda.add($0, $1) }, log: .silent)
        publishing.connect(tracks)
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        let track = try tracks.publishableTrack("camera", in: "desk")
        #expect(track.publish(source))
        #expect(throws: PublishingError.self) {
            try publishing.publish(offer: PublisherOffers.obs, room: "desk", track: "camera") { _ in }
        }
        _ = try agenda.runNext()
        #expect(tracks.removed.withLock { $0 } == ["desk/camera"])
    }

    @Test("where another source has come since, a publisher is refused, though the track's last one has left")
    func takenSince() throws {
        defer { media.stop() }
        publishing.close(try publish("camera"))
        let track = try #require(tracks.track("camera"))
        try eventually("the track to be free") { track.sourceState != .live }
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(track.publish(source))
        guard case .taken(let why) = refusal("camera") else {
            Issue.record("a publisher was let in beside another source")
            return
        }
        #expect(why.hasPrefix("the track camera already has a source"))
        #expect(track.sourceState == .live)
        source.end(reason: "it was a test")
        #expect(refusal("camera") == nil)
    }

    @Test("of a host's tracks, those that were made for publishers go with them, and those that were there stay")
    func hostsTracks() throws {
        defer { media.stop() }
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        publishing.connect(host)
        let room = host.room
        _ = try host.addTrack("desk2", to: room)
        func names() -> [String] { host.tracks.map(\.name) }
        let first = host.firstTrack.name
        func publish(_ track: String) throws -> MediaSessionID {
            try publishing.publish(offer: PublisherOffers.obs, room: room, track: track) { _ in }.id
        }
        let sessions = try [first, "desk2", "camera"].map(publish)
        #expect(names() == [first, "desk2", "camera"])
        #expect(host.tracks.map(\.sourceState) == [.live, .live, .live])
        // The one that goes is the last to be left.
        for session in sessions { publishing.close(session) }
        try eventually("the end of the publisher's track") { names() == [first, "desk2"] }

        // Asked once more, in whatever order the others' time came.
        for name in names() { host.removeUnpublished(name, from: room) }
        #expect(names() == [first, "desk2"])
        // Both may be published again, and so may the one that went.
        for session in try [first, "desk2", "camera"].map(publish) { publishing.close(session) }
        try eventually("the end of the publisher's next track") { names() == [first, "desk2"] }
    }

    @Test("a track that was made for a publisher stays where another source has come to it")
    func keptBySource() throws {
        defer { media.stop() }
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let track = try host.publishableTrack("camera", in: host.room)
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(track.publish(source))
        host.removeUnpublished("camera", from: host.room)
        #expect(host.track("camera", in: host.room) === track)
        source.end(reason: "it was a test")
        host.removeUnpublished("camera", from: host.room)
        #expect(host.track("camera", in: host.room) == nil)
    }

    @Test("an offer that can't be taken makes no track")
    func badOffers() throws {
        defer { media.stop() }
        let refusals = [
            refusal("camera", offer: "v=0"), refusal("camera", offer: "hello"),
            refusal("camera", offer: PublisherOffers.obs.replacing("a=sendonly", with: "a=recvonly")),
        ]
        let isFit = refusals.map { refusal in
            switch refusal {
            case .offer(.unsupported), .offer(.badOffer): true
            default: false
            }
        }
        #expect(isFit == [true, true, true])
        #expect(tracks.made.withLock { $0.isEmpty })
    }

    @Test("a track goes a while after its last publisher, and not where another has come")
    func removal() throws {
        defer { media.stop() }
        let agenda = Agenda()
        let publishing = RoomPublishing(
            media: media, schedule: { time, action in agenda.add(time, action) }, log: .silent)
        publishing.connect(tracks)
        func publish(_ track: String) throws -> MediaSessionID {
            try publishing.publish(offer: PublisherOffers.obs, room: "desk", track: track) { _ in }.id
        }
        func removed() -> [String] { tracks.removed.withLock { $0 } }
        publishing.close(try publish("camera"))
        let second = try publish("camera")
        #expect(try agenda.runNext() == .seconds(60))
        #expect(removed().isEmpty)
        publishing.close(try publish("other"))
        #expect(try agenda.runNext() == .seconds(60))
        #expect(removed() == ["desk/other"])
        publishing.close(second)
        #expect(try agenda.runNext() == .seconds(60))
        #expect(removed() == ["desk/other", "desk/camera"])
    }

    @Test(
        "what a publisher sends is put on the track as it is, each IDR behind its parameter sets; the rest waits for the first"
    )
    func pictures() throws {
        defer { media.stop() }
        let source = try #require(PublishedSource(log: .silent))
        let hub = TrackHub(origin: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let asked = Mutex(0)
        let isAttached = source.attach(
            to: ingest, recorder: nil, after: nil, askForKeyFrame: { asked.withLock { $0 += 1 } }, onFailure: {})
        #expect(isAttached && source.makesKeyFrames && !source.restsUnwatched)
        let size = PictureSize(width: 64, height: 48)
        let encoder = try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: 30,
                rate: .ceiling(BitRate(bitsPerSecond: 1_000_000))))
        let picture = I420Picture(
            size: size, bytes: [UInt8](repeating: 128, count: 64 * 48 * 3 / 2), isFullRange: false, matrix: .bt601,
            captureTime: now())
        let units = try (0..<4).map { index in
            let unit = try encoder.accessUnit(
                of: picture, forceIDR: index % 2 == 0, time: MediaTime(ticks: Int64(index) * 3000))
            return unit.units.map { Array(unit.bytes[$0]) }
        }
        let sets = units[0].filter { [7, 8].contains($0[0] & 0x1F) }
        let reader = hub.subscribe {}
        for (index, unit) in units.enumerated() {
            // The second IDR comes without them, as some encoders have it.
            let sent = index == 2 ? unit.filter { ![7, 8].contains($0[0] & 0x1F) } : unit
            source.receive(
                PublishedFrame(
                    codec: .h264, units: sent.map { [0, 0, 0, 1] + $0 }, isRandomAccess: index % 2 == 0, hasMedia: true,
                    captureTime: now(), arrival: now()))
        }
        var published: [TrackFrame] = []
        try eventually("four pictures") {
            published += reader.take()
            return published.count == 4
        }
        #expect(published.map(\.coded.isRandomAccess) == [true, false, true, false])
        #expect(published[2].coded.units.prefix(sets.count).map { Array(published[2].coded.bytes[$0]) } == sets)
        source.requestKeyFrame()
        #expect(asked.withLock { $0 } == 1)
        source.keyFrameRequestsIgnored()
        #expect(!source.makesKeyFrames)
        source.end(reason: "enough")
        try eventually("its end") { ingest.hub.sourceState != .live }
        guard case .gone(_, "enough") = ingest.hub.sourceState else {
            Issue.record("\(ingest.hub.sourceState)")
            return
        }
    }
}
