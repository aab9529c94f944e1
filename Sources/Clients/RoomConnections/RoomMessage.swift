import FoundationEssentials

/// A message of a room's host to a viewer, as far as a client wants to know (`Protocol/rooms.md`, "From the server").
/// Keys that it doesn't know are ignored.
package struct RoomMessage: Decodable, Sendable {
    /// A member, by the identifier of its visit and the name that it gives itself.
    package struct Member: Decodable, Hashable, Sendable {
        package let socketId: String
        package let name: String?
    }

    struct Track: Decodable, Sendable {
        let name: String
    }

    struct Payload: Decodable, Sendable {
        let tracks: [Track]?
        let count: Int?
        let members: [Member]?
        let reason: String?
    }

    let eventName: String
    let data: Payload?

    /// Reads `text`, whose size the WebSocket has limited; nil if it isn't such a message.
    init?(_ text: String) {
        guard let message = try? JSONDecoder().decode(RoomMessage.self, from: Data(text.utf8)) else { return nil }
        self = message
    }

    /// The names of the tracks, in the order in which they came.
    var trackNames: [String] { (data?.tracks ?? []).map(\.name) }
}
