import MediaTypes
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@testable import ScreenRelayClient

@Suite("A client of a room")
struct RoomClientTests {
    /// An event in one word.
    private func word(_ event: RoomEvent) -> String {
        switch event {
        case .joined: "joined"
        case .trackAppeared(let track): "+\(track.name)"
        case .trackEnded(let track): "-\(track.name)"
        case .membersChanged: "members"
        case .reconnecting: "reconnecting"
        case .ended(.left): "left"
        case .ended(.refused): "refused"
        case .ended(.failed): "failed"
        }
    }

    @Test(
        "joins, learns of the tracks that are there and of those that come and go, and of people; leaving ends all",
        .timeLimit(.minutes(10)))
    func events() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        var settings = RoomClient.Settings()
        settings.name = "Robot"
        let client = try RoomClient(room.link, settings: settings)
        #expect(client.tracks.isEmpty)
        let events = try client.join()
        #expect(throws: RoomClientError.joinedBefore) { try client.join() }
        let words = Reading<String>()
        let names = Reading<String?>()
        let reading = Task {
            for await event in events {
                words.add(word(event))
                if case .membersChanged(_, let members) = event { members.forEach { names.add($0.name) } }
            }
        }
        try await awaited("the first track") { words.all.starts(with: ["joined", "+screen"]) }
        #expect(client.tracks.map(\.name) == ["screen"])
        try await awaited("its name") { names.all.contains("Robot") }
        _ = try room.host.addTrack("second", to: "screen")
        try await awaited("the second track") { words.all.contains("+second") }
        room.host.removeTrack("second", from: "screen")
        try await awaited("its end") { words.all.contains("-second") }
        #expect(await room.members("viewer") == 1)
        await client.leave()
        await reading.value
        #expect(words.all.last == "left")
        try await awaited("the host to know of it") { await room.members("viewer") == 0 }
        #expect(throws: RoomClientError.noRoom) { _ = try client.publish("mirror", picturesPerSecond: 30) }
        await client.leave()
    }

    @Test("reads a track's frames byte for byte, from a key frame on", .timeLimit(.minutes(10)))
    func frames() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let pictures = try room.writeStream(every: 20)
        let client = try RoomClient(room.link)
        let track = try await client.join(until: "screen")
        var received: [RoomFrame] = []
        for await frame in track.frames {
            received.append(frame)
            if received.count > pictures.round.count { break }
        }
        let frames = received.map(\.coded)
        #expect(pictures.contains(frames), "\(pictures.places(of: frames))")
        let first = try #require(frames.first)
        #expect(first.isRandomAccess && first.format?.size == TestStreams.small.size)
        #expect(received.allSatisfy { $0.codec == .h264 })
        #expect(zip(received, received.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
        #expect(frames.allSatisfy { ($0.captureTime ?? .distantFuture) <= now() })
        // The session ends with its last reader, and the client stays.
        try await awaited("no viewer") { room.host.firstTrack.viewers == 0 }
        #expect(await room.members("viewer") == 1)
    }

    @Test("decodes a track's pictures, and reads a WHEP endpoint in the same way", .timeLimit(.minutes(10)))
    func pictures() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let source = try room.publishPictures()
        let written = I420Picture.slanted(PictureSize(width: 128, height: 96), shade: 90)
        source.write(picture: written)
        let endpoint = room.link.replacing("#screen,viewing", with: "whep/screen")
            .replacing("://", with: "://viewing@")
        for (link, name) in [(room.link, "screen"), (endpoint, "")] {
            let client = try RoomClient(link)
            let track = try await client.join(until: name)
            var best = 0.0
            for try await picture in track.pictures {
                best = max(best, picture.likeness(to: written))
                if best > 35 { break }
            }
            #expect(best > 35)
            await client.leave()
        }
        #expect(throws: RoomClientError.noRoom) {
            _ = try RoomClient(endpoint).publish("mirror", picturesPerSecond: 30)
        }
        source.end(reason: "it was a test")
    }

    @Test("reads a track's sound, as packets and decoded", .timeLimit(.minutes(10)))
    func sound() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        try room.writeTone()
        let client = try RoomClient(room.link)
        let track = try await client.join(until: "screen")
        var left: [Float] = []
        var isTone = false
        for try await piece in track.soundSamples() {
            #expect(piece.samples.channelCount == 2 && (piece.captureTime ?? .distantFuture) <= now())
            left += stride(from: 0, to: piece.samples.samples.count, by: 2).map { piece.samples.samples[$0] }
            guard left.count >= 24_000 else { continue }
            let fit = ToneFit(400, in: left.suffix(24_000))
            isTone = fit.amplitude > 0.3 && fit.signalToNoise > 15
            if isTone || left.count > 48_000 * 60 { break }
        }
        #expect(isTone)
        for await packet in track.soundFrames {
            #expect(packet.codec == .opus && packet.coded.isRandomAccess && packet.coded.units.count == 1)
            break
        }
    }

    @Test("several readers share one session, and begin with a key frame each", .timeLimit(.minutes(10)))
    func readers() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        _ = try room.writeStream(every: 20)
        let client = try RoomClient(room.link)
        let track = try await client.join(until: "screen")
        var early = track.frames.makeAsyncIterator()
        #expect(await early.next()?.coded.isRandomAccess == true)
        var late = track.frames.makeAsyncIterator()
        #expect(await late.next()?.coded.isRandomAccess == true)
        #expect(room.host.firstTrack.viewers == 1)
        #expect(await early.next() != nil)
    }

    @Test("a cancelled reader ends its session, and a cancelled reader of events leaves", .timeLimit(.minutes(10)))
    func cancellation() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        _ = try room.writeStream(every: 20)
        let client = try RoomClient(room.link)
        let events = try client.join()
        let reading = Task { for await _ in events {} }
        try await awaited("the track") { !client.tracks.isEmpty }
        let track = try #require(client.tracks.first)
        let viewing = Task { for await _ in track.frames {} }
        try await awaited("a viewer") { room.host.firstTrack.viewers == 1 }
        viewing.cancel()
        await viewing.value
        try await awaited("no viewer") { room.host.firstTrack.viewers == 0 }
        #expect(await room.members("viewer") == 1)
        // It ends with the room, without being cancelled itself.
        let left = Task { for await _ in track.frames {} }
        try await awaited("a viewer") { room.host.firstTrack.viewers == 1 }
        reading.cancel()
        await reading.value
        await left.value
        try await awaited("nobody") { await room.members("viewer") == 0 }
        var over = track.frames.makeAsyncIterator()
        #expect(await over.next() == nil)
    }

    @Test("a client that is released leaves", .timeLimit(.minutes(10)))
    func release() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        func visit() async throws {
            let client = try RoomClient(room.link)
            _ = try await client.join(until: "screen")
            try await awaited("it is there") { await room.members("viewer") == 1 }
        }
        try await visit()
        try await awaited("nobody") { await room.members("viewer") == 0 }
    }

    @Test("what the host refuses is the end, with a reason that has no secret", .timeLimit(.minutes(10)))
    func refusals() async throws {
        let room = try ClientRoom(password: "sesame")
        defer { room.stop() }
        let endpoint = room.link.replacing("#screen,viewing", with: "whep/screen")
            .replacing("://", with: "://wrong@")
        for (link, reason) in [
            (room.link + "x", "refuses the room or its token"), (room.link, "requires a password"),
            (room.link + ",barley", "requires a password"),
            (room.link.replacing("#screen", with: "#nowhere"), "refuses the room or its token"),
            (endpoint, "refuses the token (401)"),
        ] {
            var events = try RoomClient(link).join().makeAsyncIterator()
            guard case .ended(.refused(let told))? = await events.next() else {
                Issue.record("\(link) isn't refused")
                continue
            }
            #expect(told.contains(reason) && !told.contains("viewing") && !told.contains("barley"), "\(told)")
            #expect(await events.next() == nil)
        }
        _ = try await RoomClient(room.link + ",sesame").join(until: "screen")
    }

    @Test(
        "a locked room is tried again until it is unlocked, and tracks that are received go on",
        .timeLimit(.minutes(10)))
    func lockedRoom() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        _ = try room.writeStream(every: 20)
        let client = try RoomClient(room.link)
        var frames = try await client.join(until: "screen").frames.makeAsyncIterator()
        #expect(await frames.next() != nil)
        #expect(room.host.lock(true))
        let locked = now()
        var events = try RoomClient(room.link).join().makeAsyncIterator()
        guard case .reconnecting("the room is locked")? = await events.next() else {
            Issue.record("it isn't told that the room is locked")
            return
        }
        var last = await frames.next()
        while let frame = last, frame.arrival < locked + .seconds(1) { last = await frames.next() }
        #expect(last != nil)
        _ = try await RoomClient(room.presentersLink).join(until: "screen")
        #expect(room.host.lock(false))
        while let event = await events.next() {
            if case .joined = event { return }
        }
        Issue.record("it isn't let into the unlocked room")
    }

    @Test("in a room with a waiting room, only the presenters' token is of use", .timeLimit(.minutes(10)))
    func waitingRoom() async throws {
        let room = try ClientRoom(hasWaitingRoom: true)
        defer { room.stop() }
        _ = try room.writeStream(every: 20)
        var events = try RoomClient(room.link).join().makeAsyncIterator()
        guard case .ended(.refused(let reason))? = await events.next() else {
            Issue.record("it isn't refused")
            return
        }
        #expect(reason.contains("presenters' token"))
        try await awaited("nobody waits") { room.host.door(of: "screen").waiting.isEmpty }
        var frames = try await RoomClient(room.presentersLink).join(until: "screen").frames.makeAsyncIterator()
        #expect(await frames.next() != nil)
    }

    @Test("links that can't be used", arguments: ["", "Sesam", "rtsp://host/screen", "http://a:Sesam@host/live"])
    func badLinks(link: String) {
        let error = #expect(throws: RoomClientError.self) { try RoomClient(link) }
        #expect(error?.description.contains("Sesam") == false)
    }

    @Test(
        "when the host has ended and runs again, the client is back, and its readers go on with a key frame",
        .timeLimit(.minutes(10)))
    func hostRestarted() async throws {
        let port = try freePort()
        let first = try ClientRoom(port: port)
        _ = try first.writeStream(every: 20)
        let client = try RoomClient(first.link)
        let events = try client.join()
        let words = Reading<String>()
        let reading = Task { for await event in events { words.add(word(event)) } }
        try await awaited("the track") { !client.tracks.isEmpty }
        let track = try #require(client.tracks.first)
        let frames = Reading<RoomFrame>()
        let viewing = Task { for await frame in track.frames { frames.add(frame) } }
        try await awaited("frames") { frames.all.count > 10 }
        first.stop()
        try await awaited("it is told") { words.all.contains("reconnecting") }
        #expect(client.tracks == [track])
        let count = frames.all.count
        let second = try ClientRoom(port: port)
        defer { second.stop() }
        let pictures = try second.writeStream(every: 20)
        try await awaited("it is back") { words.all.count { $0 == "joined" } == 2 }
        try await awaited("frames") { frames.all.count > count + 10 }
        let later = frames.all.suffix(10).map(\.coded)
        #expect(pictures.contains(later))
        #expect(!words.all.contains("-screen"))
        viewing.cancel()
        await viewing.value
        await client.leave()
        await reading.value
    }
}
