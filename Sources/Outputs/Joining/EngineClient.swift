import FoundationEssentials
import MediaTypes
import SocketIORooms

/// A client's side of Engine.IO over a WebSocket, and of socket.io's default namespace on it.
///
/// Version 3 servers admit a client unasked and expect its pings; version 4 servers wait for its request and send the
/// pings. The server's first messages show its version, whichever was requested. A pure value.
struct EngineClient {
    enum Step: Sendable, Equatable {
        /// Send this text.
        case send(String)
        /// Events can be sent.
        case connected
        /// An event: its JSON.
        case event(String)
        case fail(String)
    }

    /// The time in which a server that may be one of version 3 has to admit us unasked.
    private static let timeout = Interval.seconds(1)
    /// How late a heartbeat may be, in addition to the server's own times.
    private static let grace = Interval.seconds(5)

    private enum Phase {
        case new
        /// The server has greeted us; at this time we ask to be admitted.
        case greeted(askAt: MonotonicTime)
        case asked
        case connected
    }

    private var version: EngineVersion
    private var phase = Phase.new
    private var pingInterval = Interval.seconds(25)
    private var pingTimeout = Interval.seconds(20)
    private var lastHeard: MonotonicTime
    private var nextPing = MonotonicTime.distantFuture

    /// - Parameter version: the requested version.
    init(_ version: EngineVersion, at now: MonotonicTime) {
        self.version = version
        lastHeard = now
    }

    /// The text of an event.
    static func event(_ packet: SocketPacket) -> String { EnginePacket(.message, packet.encoded).encoded }

    mutating func take(_ text: String, at now: MonotonicTime) -> [Step] {
        guard let packet = EnginePacket(parsing: text) else { return [.fail("the server doesn't speak Engine.IO")] }
        lastHeard = now
        switch packet.kind {
        case .open: return greeted(packet.text, now)
        case .close: return [.fail("the server has ended the session")]
        case .ping: return [.send(EnginePacket(.pong, packet.text).encoded)]
        case .message: return SocketPacket(parsing: packet.text).map { take($0, now) } ?? []
        case .pong, .upgrade, .noop: return []
        }
    }

    /// Does what is due; called several times a second.
    mutating func poll(at now: MonotonicTime) -> [Step] {
        if case .greeted(let askAt) = phase, now >= askAt { return ask() }
        guard case .connected = phase else { return [] }
        if now - lastHeard > pingInterval + pingTimeout + Self.grace { return [.fail("the server is silent")] }
        guard version == .three, now >= nextPing else { return [] }
        nextPing = now + pingInterval
        return [.send(EnginePacket(.ping).encoded)]
    }

    private struct Greeting: Decodable {
        var pingInterval: Double?
        var pingTimeout: Double?
        var maxPayload: Double?
    }

    private mutating func greeted(_ json: String, _ now: MonotonicTime) -> [Step] {
        guard case .new = phase, let greeting = try? JSONDecoder().decode(Greeting.self, from: Data(json.utf8)) else {
            return [.fail("the server's greeting isn't Engine.IO's")]
        }
        pingInterval = Self.time(greeting.pingInterval, default: pingInterval)
        pingTimeout = Self.time(greeting.pingTimeout, default: pingTimeout)
        // Only version 4 states its largest payload, and its older releases don't.
        if version == .four, greeting.maxPayload != nil { return ask() }
        phase = .greeted(askAt: version == .four ? now + Self.timeout : .distantFuture)
        return []
    }

    /// A server's `milliseconds`, within 1 s and 10 minutes.
    private static func time(_ milliseconds: Double?, default usual: Interval) -> Interval {
        guard let milliseconds, milliseconds.isFinite else { return usual }
        return .milliseconds(Int64(min(max(milliseconds, 1000), 600_000)))
    }

    private mutating func ask() -> [Step] {
        phase = .asked
        return [.send(Self.event(SocketPacket(.connect)))]
    }

    private mutating func take(_ packet: SocketPacket, _ now: MonotonicTime) -> [Step] {
        guard packet.namespace == "/" else { return [] }
        switch (packet.kind, phase) {
        case (.connect, .greeted):
            version = .three
            return connected(now)
        case (.connect, .asked): return connected(now)
        case (.error, _): return [.fail("the server refuses the connection")]
        case (.disconnect, _): return [.fail("the server has ended the session")]
        case (.event, .connected):
            let acknowledgement = packet.acknowledgement.map { Step.send(Self.event(.acknowledging($0))) }
            return [acknowledgement, .event(packet.json)].compactMap { $0 }
        default: return []
        }
    }

    private mutating func connected(_ now: MonotonicTime) -> [Step] {
        phase = .connected
        if version == .three { nextPing = now + pingInterval }
        return [.connected]
    }
}
