import Glibc
import H264
import MediaTypes
import ScreenRelayClient
import ScreenRelayKit
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading

/// A host on loopback, into whose room `screen` clients come over the network.
final class ClientRoom: Sendable {
    static let presentingToken = "presenting"

    let host: ScreenRelayHost
    private let isOver = Flag()
    private let written = Atomic<Int>(0)

    /// - Parameter port: of HTTP; 0 for any free port.
    init(port: UInt16 = 0, password: String? = nil, hasWaitingRoom: Bool = false) throws {
        var configuration = HostConfiguration(port: port)
        configuration.token = "viewing"
        configuration.presentingToken = Self.presentingToken
        configuration.password = password
        configuration.hasWaitingRoom = hasWaitingRoom
        host = try ScreenRelayHost(configuration)
    }

    /// The viewers' link.
    var link: String { host.link }
    /// The presenters' link.
    var presentersLink: String { link.replacing(",viewing", with: ",\(Self.presentingToken)") }

    /// How many frames were written to the first track so far.
    var writtenFrames: Int { written.load(ordering: .relaxed) }

    /// Writes a known stream to the first track over and over, until the room is stopped.
    func writeStream(every period: Int32) throws -> LoopedPictures {
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: { pictures.startOver() }))
        #expect(host.firstTrack.publish(track))
        let thread = NamedThread("stream") { [self] in
            while !isOver.isSet {
                track.write(pictures.next())
                written.add(1, ordering: .relaxed)
                poll(nil, 0, period)
            }
            track.end(reason: "it was a test")
        }
        try #require(thread != nil)
        return pictures
    }

    /// Publishes pictures as the first track.
    func publishPictures() throws -> CustomVideoTrack {
        let track = try CustomVideoTrack(picturesPerSecond: 30)
        #expect(host.firstTrack.publish(track))
        return track
    }

    /// Writes a tone of 400 Hz as the sound of the first track, until the room is stopped.
    func writeTone() throws {
        let sound = try CustomAudioTrack(channelCount: 1)
        #expect(host.firstTrack.publish(sound))
        // Whole periods, so that blocks always fit.
        let block = AudioSamples(channelCount: 1, samples: tone(400, seconds: 0.02))
        let thread = NamedThread("tone") { [self] in
            while !isOver.isSet {
                sound.write(samples: block)
                poll(nil, 0, 20)
            }
            sound.end(reason: "it was a test")
        }
        try #require(thread != nil)
    }

    func stop() {
        isOver.set()
        host.stop()
    }

    /// How many members of this kind are in the room.
    func members(_ kind: String) async -> Int {
        await host.describeRooms().flatMap(\.members).count { $0.kind == kind }
    }
}

extension RoomClient {
    /// Joins the room, and waits for a track of this name.
    func join(until name: String) async throws -> RoomTrack {
        var events = try join().makeAsyncIterator()
        guard case .joined? = await events.next() else { throw DeadlineMissed(what: "the room") }
        while let event = await events.next() {
            if case .trackAppeared(let track) = event, track.name == name { return track }
        }
        throw DeadlineMissed(what: "the track \(name)")
    }
}

/// What a task has read so far.
final class Reading<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// Polls `condition` until it holds, and throws if `limit` passes before that. Unlike `eventually`, it doesn't hold up
/// the thread, which the readers' tasks need too.
func awaited(
    _ what: String, within limit: Interval = .seconds(90), holds condition: () async throws -> Bool
) async throws {
    let deadline = now() + limit
    while try await !condition() {
        if now() > deadline { throw DeadlineMissed(what: what) }
        try await Task.sleep(for: .milliseconds(5))
    }
}
