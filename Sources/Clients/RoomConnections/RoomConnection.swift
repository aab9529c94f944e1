import ByteCoding
import MediaTypes
package import Signalling

/// A viewer's WebSocket to a room, which tells who and what is there. The media have sessions of their own.
///
/// It belongs to the thread of its context.
package final class RoomConnection {
    /// An event of the connection.
    package enum Event: Sendable {
        /// The room has let us in, and has these tracks.
        case entered(tracks: [String])
        /// The tracks are these from now on.
        case tracks([String])
        /// How many people are in the room, and some of them.
        case members(count: Int, [RoomMessage.Member])
        /// It is over; the last event.
        case ended(ConnectionEnd)
    }

    /// The largest message that the host may send, in bytes.
    private static let limit = 256 << 10

    private let onEvent: (Event) -> Void
    private let greeting: String
    private var socket: ClientWebSocket?
    /// The reason that the host gave before it closed the connection.
    private var refusal: String?

    /// Begins to connect, and to join the room.
    ///
    /// - Parameters:
    ///   - name: the name that others see; nil for none.
    ///   - thread: the calling thread.
    ///   - onEvent: called on the thread, at most until ``close()``.
    package init(
        to link: RoomLink, name: String?, on thread: ConnectionThread, onEvent: @escaping (Event) -> Void
    ) {
        self.onEvent = onEvent
        greeting = Self.greeting(link, name)
        let room = link.room.isEmpty ? "" : "?room=\(PercentCoding.encode(link.room))"
        let address = WebSocketAddress(
            host: link.name, port: link.port, isSecure: link.isSecure, target: "/ws\(room)")
        let socket = ClientWebSocket(to: address, limit: Self.limit, on: thread.context) { [weak self] event in
            self?.take(event)
        }
        self.socket = socket
        socket.connect()
    }

    /// Leaves the room, without another event.
    package func close() {
        socket?.close()
        socket = nil
    }

    /// The role of a viewer has news of tracks and people, and no part in the mesh.
    private static func greeting(_ link: RoomLink, _ name: String?) -> String {
        JSONObject { message in
            message.add("eventName", "__join")
            message.add(
                "data",
                JSONObject { data in
                    data.add("room", link.token.isEmpty ? link.room : "\(link.room),\(link.token)")
                    data.add("role", "viewer")
                    data.add("name", name)
                    data.add("password", link.password)
                })
        }.text
    }

    private func take(_ event: ClientWebSocket.Event) {
        switch event {
        case .opened: socket?.send(greeting)
        case .message(let text):
            guard let message = RoomMessage(text) else { return }
            take(message)
        case .ended(let failure):
            socket = nil
            onEvent(.ended(ConnectionEnd(of: failure, refusal)))
        }
    }

    private func take(_ message: RoomMessage) {
        switch message.eventName {
        case "_peers": onEvent(.entered(tracks: message.trackNames))
        case "_tracks": onEvent(.tracks(message.trackNames))
        case "_people": onEvent(.members(count: message.data?.count ?? 0, message.data?.members ?? []))
        case "_refused": refusal = message.data?.reason
        case "_waiting":
            // It would be no use to be let in: players can't wait, and the media have a player's session.
            close()
            onEvent(.ended(.needsPresentersToken))
        default: break
        }
    }
}

extension ConnectionEnd {
    /// The end of a room's WebSocket, by its close code (`Protocol/rooms.md`, "From the server").
    init(of failure: WebSocketError, _ refusal: String?) {
        switch failure {
        case .closed(code: 4401):
            self.init(
                "the room requires a password, or another one: add it after the room token, for example "
                    + "ROOM,TOKEN,PASSWORD", .refused, mayPass: false)
        case .closed(code: 4403): self.init("the host refuses the room or its token", .refused, mayPass: false)
        case .closed(code: 4410): self.init(refusal ?? "the sharer has removed this client", .refused, mayPass: false)
        case .closed(code: 4411): self.init("this invite link has expired", .refused, mayPass: false)
        case .closed(code: 4423): self.init(refusal ?? "the room is locked")
        case .closed(code: 4503): self.init(refusal ?? "the room is full")
        default: self.init("\(failure)")
        }
    }
}
