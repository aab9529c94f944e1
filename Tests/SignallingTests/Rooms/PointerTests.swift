import Foundation
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

/// A media side whose pointer can be left out of its pictures.
private final class PointerMedia: RoomMedia, SessionServer {
    typealias Watcher = @Sendable (PointerChange) -> Void

    struct State {
        var modes: [Bool] = []
        var watchers: [MediaSessionID: Watcher] = [:]
        var sessions: UInt64 = 0
    }

    let state = Mutex(State())
    var sessions: any SessionServer { self }

    func open(
        offer sdp: String, from client: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession {
        let id = state.withLock { state in
            state.sessions += 1
            return MediaSessionID(rawValue: state.sessions)
        }
        return OpenedSession(id: id, answer: FakeMedia.answer, entityTag: "tag")
    }

    func close(_ session: MediaSessionID) { state.withLock { $0.watchers[session] = nil } }
    func remoteCandidates(_ session: MediaSessionID, fragment: String) {}
    func snapshot(
        _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void
    ) { completion(.failure(.noPicture)) }

    func setPointerDrawn(_ isDrawn: Bool) { state.withLock { $0.modes.append(isDrawn) } }
    func watchPointer(_ session: MediaSessionID, onChange: @escaping Watcher) {
        state.withLock { $0.watchers[session] = onChange }
    }

    var modes: [Bool] { state.withLock { $0.modes } }
    func tell(_ session: UInt64, _ isDrawn: Bool, _ timestamp: UInt32) {
        state.withLock { $0.watchers[MediaSessionID(rawValue: session)] }?(
            PointerChange(isDrawn: isDrawn, timestamp: timestamp))
    }
}

/// A server whose room "desk" has such a media side.
private struct PointerRoom: ~Copyable {
    let server: SignallingServer
    let media = PointerMedia()
    let port: UInt16

    init() throws {
        var configuration = SignallingConfiguration(
            listen: [ListenAddress(address: "127.0.0.1", port: 0)],
            rooms: [RoomConfiguration(name: "desk", token: "secret")])
        configuration.limits.unread = 8 << 20
        server = SignallingServer(configuration)
        server.addTrack("screen", media: media, room: "desk")
        try server.start()
        port = server.addresses.first?.port ?? 0
    }

    deinit { server.stop() }

    func tell(_ reports: PointerReport...) {
        for report in reports { server.updatePointer(report, room: "desk") }
    }

    /// A page in the room, its first two events read. What was told before is taken by then.
    func page() throws -> (client: WebSocketClient, host: String) {
        try server.waitUntilTaken()
        let client = try WebSocketClient(port: port)
        return (client, try client.joinAsViewer("desk,secret").host)
    }
}

@Suite("The pointer over WebSockets")
struct PointerTests {
    private func shape(_ width: Int = 2, _ height: Int = 1, pixels: [UInt32] = [0x8040_2000, 0xFFFF_0000]) throws
        -> PointerReport
    {
        let size = PictureSize(width: width, height: height)
        return .shape(try #require(CursorImage(size: size, hotX: 1, hotY: 0, pixels: pixels)))
    }

    private func place(_ x: Int, _ y: Int = 0, visible: Bool = true) -> PointerReport {
        .position(PointerPosition(x: x, y: y, isVisible: visible), of: PictureSize(width: 640, height: 480))
    }

    @Test("a page hears shape, place and mode when it joins, and what changes after that")
    func page() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true), .pictures(areDrawn: false), try shape(), place(3, -4))
        try eventually("the decision", holds: { room.media.modes == [false] })
        let (client, _) = try room.page()
        let shape = try client.next(event: "_pointer_shape")
        #expect(shape["width"] as? Int == 2 && shape["height"] as? Int == 1)
        #expect(shape["hotX"] as? Int == 1 && shape["hotY"] as? Int == 0)
        let pixels = try #require(Data(base64Encoded: shape["pixels"] as? String ?? ""))
        // Straight alpha: half of 0x80 is 0x40 of 0x80, which is 128 of 255.
        #expect([UInt8](pixels) == [128, 64, 0, 128, 255, 0, 0, 255])
        let place = try client.next(event: "_pointer")
        #expect(place["x"] as? Int == 3 && place["y"] as? Int == -4 && place["visible"] as? Bool == true)
        #expect(place["width"] as? Int == 640 && place["height"] as? Int == 480)
        let mode = try client.next(event: "_pointer_mode")
        #expect(mode["drawn"] as? Bool == false && mode["rtp"] == nil)
        room.tell(.lost)
        let hidden = try client.next(event: "_pointer")
        #expect(hidden["visible"] as? Bool == false && hidden["width"] == nil)
    }

    @Test("a page hears from which picture of its own session on the pointer is drawn")
    func mode() throws {
        let room = try PointerRoom()
        let (client, host) = try room.page()
        try client.send(offer: "v=0", to: host)
        _ = try client.next(event: "_answer")
        room.media.tell(1, false, 4_294_967_295)
        room.media.tell(1, true, 17)
        let first = try client.next(event: "_pointer_mode")
        #expect(first["drawn"] as? Bool == false && first["rtp"] as? Int == 4_294_967_295)
        let second = try client.next(event: "_pointer_mode")
        #expect(second["drawn"] as? Bool == true && second["rtp"] as? Int == 17)
    }

    @Test("plain clients hear nothing of the pointer, and while one is there it is drawn")
    func plainClient() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true), .pictures(areDrawn: false), try shape(), place(3))
        try eventually("the decision", holds: { room.media.modes == [false] })
        let plain = try WebSocketClient(port: room.port)
        try plain.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let host = try #require(try plain.next(event: "_peers")["host"] as? String)
        try eventually("the decision", holds: { room.media.modes == [false, true] })
        room.tell(place(4), place(5))
        try plain.send(offer: "v=0", to: host)
        _ = try plain.next(event: "_answer")
        #expect(room.media.state.withLock { $0.watchers.isEmpty })
        try plain.raw.send(WebSocketClient.frame(8, [0x03, 0xE8]))
        try eventually("the decision", holds: { room.media.modes == [false, true, false] })
    }

    @Test("a player's session and a reader such as a recording bring the pointer into the pictures while they last")
    func players() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true))
        try eventually("the decision", holds: { room.media.modes == [false] })
        let headers = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
        let offer = "v=0\r\na=ice-ufrag:abcd\r\na=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa\r\n"
        let opened = try TestSocket(port: room.port).request("POST", "/whep/desk", headers, body: offer)
        #expect(opened.status == 201)
        try eventually("the decision", holds: { room.media.modes == [false, true] })
        let session = try #require(opened.headers["location"])
        #expect(try TestSocket(port: room.port).request("DELETE", session, headers).status == 200)
        try eventually("the decision", holds: { room.media.modes == [false, true, false] })
        room.server.setPlainReaders(1, room: "desk")
        try eventually("the decision", holds: { room.media.modes.count == 4 })
        room.server.setPlainReaders(0, room: "desk")
        try eventually("the decision", holds: { room.media.modes == [false, true, false, true, false] })
    }

    @Test("past 100 pages the pointer is drawn into the pictures, until there are fewer than 90")
    func manyPages() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true))
        try eventually("the decision", holds: { room.media.modes == [false] })
        var clients: [WebSocketClient] = []
        for _ in 0..<100 { clients.append(try room.page().client) }
        #expect(room.media.modes == [false])
        clients.append(try room.page().client)
        try eventually("the decision", holds: { room.media.modes == [false, true] })
        clients.removeLast(11)
        try eventually("who left", holds: { room.server.audience(of: "desk").members == 90 })
        #expect(room.media.modes == [false, true])
        clients.removeLast(1)
        try eventually("the decision", holds: { room.media.modes == [false, true, false] })
    }

    @Test("however often the pointer moves, a page hears the latest, and of no more than 60 places a second")
    func rate() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true), .pictures(areDrawn: false))
        let (client, _) = try room.page()
        var x = 0
        var heard: [Int] = []
        func listen() throws { heard.append(try #require(try client.next(event: "_pointer")["x"] as? Int)) }
        _ = try client.next(event: "_pointer_mode")
        let began = ContinuousClock.now
        try eventually("three places while it moves") {
            for _ in 0..<100 {
                x += 1
                room.tell(place(x))
            }
            client.raw.read()
            if !client.raw.received.isEmpty { try listen() }
            return heard.count >= 3
        }
        room.tell(place(1_000_000))
        while heard.last != 1_000_000 { try listen() }
        let took = began.duration(to: .now) / .seconds(1)
        #expect(heard == heard.sorted())
        #expect(Double(heard.count) <= took * 60 + 2)
    }

    @Test("a page that reads nothing is owed one place and no more, however many shapes and places come")
    func slowPage() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: true), .pictures(areDrawn: false))
        let (client, _) = try room.page()
        let large = (0..<96 * 96).map { UInt32(truncatingIfNeeded: $0) | 0xFF00_0000 }
        let (watcher, _) = try room.page()
        _ = try watcher.next(event: "_pointer_mode")
        // What the sockets take, and then far more: 37 KB each, told to a page that reads as well.
        for round in 1...250 {
            room.tell(try shape(96, 96, pixels: large), place(round))
            _ = try watcher.next(event: "_pointer_shape")
            _ = try watcher.next(event: "_pointer")
        }
        _ = try client.next(event: "_pointer_mode")
        var places: [Int] = []
        while places.last != 250 {
            _ = try client.next(event: "_pointer_shape")
            places.append(try #require(try client.next(event: "_pointer")["x"] as? Int))
        }
        #expect(places.count < 200, "\(places.count)")
        #expect(places == places.sorted())
    }

    @Test("while all pictures carry the pointer nobody is told where it is, and when they stop it is the latest")
    func drawn() throws {
        let room = try PointerRoom()
        room.tell(.ability(tellsPointer: false), .pictures(areDrawn: true))
        let (client, _) = try room.page()
        #expect(try client.next(event: "_pointer_mode")["drawn"] as? Bool == true)
        room.tell(try shape(), place(1))
        room.tell(place(2))
        room.tell(.ability(tellsPointer: true))
        try eventually("the decision", holds: { room.media.modes == [false] })
        _ = try client.next(event: "_pointer_shape")
        #expect(try client.next(event: "_pointer")["x"] as? Int == 2)
    }
}
