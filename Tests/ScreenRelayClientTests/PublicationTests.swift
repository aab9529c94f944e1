import H264
import MediaTypes
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing
import TrackHub

@testable import ScreenRelayClient

@Suite("What a client publishes into its room")
struct PublicationTests {
    private let size = PictureSize(width: 128, height: 96)

    @Test("pictures are a track that another client sees, and that ends with the publication", .timeLimit(.minutes(10)))
    func pictures() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let client = try RoomClient(room.presentersLink)
        let publication = try client.publish("mirror", picturesPerSecond: 30)
        let written = I420Picture.slanted(size, shade: 70)
        // Before the room is joined; the host gets it nevertheless.
        #expect(publication.write(written) == nil)
        _ = try await client.join(until: "mirror")
        var events = publication.events.makeAsyncIterator()
        #expect(await events.next() == .published)

        let viewer = try RoomClient(room.link)
        let track = try await viewer.join(until: "mirror")
        var best = 0.0
        for try await picture in track.pictures {
            best = max(best, picture.likeness(to: written))
            if best > 35 { break }
        }
        #expect(best > 35)
        #expect(await room.members("publisher") == 1)
        publication.end()
        #expect(await events.next() == .ended(.left))
        #expect(await events.next() == nil)
        #expect(publication.write(written) == .ended)
        try await awaited("no publisher") { await room.members("publisher") == 0 }
        await client.leave()
    }

    @Test("frames are passed on byte for byte, and key frames are asked for", .timeLimit(.minutes(10)))
    func frames() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        let asked = Mutex(0)
        let client = try RoomClient(room.presentersLink)
        let publication = try client.publish(
            "coded",
            keyFrameWanted: {
                asked.withLock { $0 += 1 }
                pictures.startOver()
            })
        _ = try await client.join(until: "coded")
        let track = try #require(room.host.track("coded", in: "screen"))
        let reader = track.subscribe {}
        var received: [CodedFrame] = []
        try await awaited("all pictures") {
            // Some 60 per second.
            try await Task.sleep(for: .milliseconds(10))
            #expect(publication.write(pictures.next()) == nil)
            received += reader.take().map(\.coded)
            return received.count > pictures.round.count
        }
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        #expect(asked.withLock { $0 } > 0)
        await client.leave()
    }

    @Test("a link for viewers isn't enough", .timeLimit(.minutes(10)))
    func refused() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let client = try RoomClient(room.link)
        let publication = try client.publish("mirror", picturesPerSecond: 30)
        _ = try await client.join(until: "screen")
        var events = publication.events.makeAsyncIterator()
        guard case .ended(.refused(let reason))? = await events.next() else {
            Issue.record("it isn't refused")
            return
        }
        #expect(reason.contains("token") && reason.contains("403"), "\(reason)")
        #expect(publication.write(.slanted(size, shade: 70)) == .ended)
        #expect(client.tracks.map(\.name) == ["screen"])
    }

    @Test("a room's password is known to the publication too", .timeLimit(.minutes(10)))
    func password() async throws {
        let room = try ClientRoom(password: "open it")
        defer { room.stop() }
        let client = try RoomClient(room.presentersLink + ",open%20it")
        let publication = try client.publish("mirror", picturesPerSecond: 30)
        _ = try await client.join(until: "mirror")
        var events = publication.events.makeAsyncIterator()
        #expect(await events.next() == .published)
        await client.leave()
        #expect(await events.next() == .ended(.left))
    }

    @Test("a publication is back after its host has ended and runs again", .timeLimit(.minutes(10)))
    func hostRestarted() async throws {
        let port = try freePort()
        let first = try ClientRoom(port: port)
        let client = try RoomClient(first.presentersLink)
        let publication = try client.publish("mirror", picturesPerSecond: 30)
        let written = I420Picture.slanted(size, shade: 110)
        publication.write(written)
        _ = try await client.join(until: "mirror")
        let states = Reading<PublicationEvent>()
        let reading = Task { for await event in publication.events { states.add(event) } }
        try await awaited("it is published") { states.all.first == .published }
        first.stop()
        try await awaited("it is told") {
            states.all.contains { if case .reconnecting = $0 { true } else { false } }
        }
        let second = try ClientRoom(port: port)
        defer { second.stop() }
        try await awaited("it is back") { states.all.count { $0 == .published } == 2 }
        let viewer = try RoomClient(second.link)
        let track = try await viewer.join(until: "mirror")
        // The last picture, though none was written since.
        for try await picture in track.pictures where picture.likeness(to: written) > 35 { break }
        await client.leave()
        await reading.value
    }

    @Test("what a publication doesn't take")
    func refusals() throws {
        let client = try RoomClient("http://127.0.0.1:9/#screen,presenting")
        let pictures = try client.publish("mirror", picturesPerSecond: 30)
        let frames = try client.publish("coded", keyFrameWanted: {})
        let frame = CodedFrame(
            h264: [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 3],
            units: [4..<6, 10..<12, 16..<18], captureTime: nil)
        #expect(pictures.write(frame) == .wrongKind && frames.write(.slanted(size, shade: 9)) == .wrongKind)
        #expect(frames.write(frame) == nil)
        #expect(frames.write(CodedFrame(h264: [], units: [], captureTime: nil)) == .empty)
        let sound = CodedFrame(
            bytes: [0, 0, 0, 1, 0xF0], units: [4..<5], isRandomAccess: true, captureTime: nil,
            format: TrackFormat(codec: .opus))
        #expect(frames.write(sound) == .wrongCodec)
        let broken = I420Picture(
            size: size, bytes: [1], isFullRange: false, matrix: .bt601, captureTime: nil)
        #expect(pictures.write(broken) == .wrongSize)
        for name in ["", "a b", "ä", String(repeating: "x", count: 65)] {
            #expect(throws: RoomClientError.badTrackName) { _ = try client.publish(name, picturesPerSecond: 30) }
        }
    }
}
