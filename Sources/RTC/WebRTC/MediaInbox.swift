import MediaTypes
import STUN
import Synchronization
import Threading
import TrackHub

/// What other threads want of the media thread.
enum MediaCommand: Sendable {
    case open(SessionParameters, TrackHub, onEnd: @Sendable (String) -> Void)
    /// Calls `giveUp` at `deadline`, unless the session is opened before: its offer waits for an answer.
    case expectAnswer(PeerSessionID, deadline: MonotonicTime, giveUp: @Sendable (String) -> Void)
    case restartICE(PeerSessionID, LiteAgent)
    case publish(SessionParameters, Publication, onEnd: @Sendable (String) -> Void)
    case requestKeyFrame(PeerSessionID)
    case close(PeerSessionID)
    case watchPointer(PeerSessionID, @Sendable (PointerChange) -> Void)
    case statistics(@Sendable ([PeerStatistics]) -> Void)
    case stop
}

/// The media thread's letter box: any thread posts, the media thread is woken and takes all.
final class MediaInbox: Sendable {
    let wake: WakeUp
    /// Nil once the media thread has ended.
    private let commands = Mutex<[MediaCommand]?>([])

    init?() {
        guard let wake = WakeUp() else { return nil }
        self.wake = wake
    }

    /// Whether the media thread will read `command`; false where it has ended.
    @discardableResult
    func post(_ command: MediaCommand) -> Bool {
        let isOpen = commands.withLock { commands in
            commands?.append(command)
            return commands != nil
        }
        if isOpen { wake.signal() }
        return isOpen
    }

    /// What was posted since the last call.
    func take() -> [MediaCommand] {
        commands.withLock { commands in
            guard let taken = commands, !taken.isEmpty else { return [] }
            commands = []
            return taken
        }
    }

    /// Takes the last commands; nothing can be posted from then on.
    func close() -> [MediaCommand] {
        commands.withLock { commands in
            defer { commands = nil }
            return commands ?? []
        }
    }
}

/// Carries the socket, which has one owner, into the media thread.
final class SocketHandover: Sendable {
    private let socket: Mutex<UDPSocket?>

    init(_ socket: consuming UDPSocket) {
        self.socket = Mutex(socket)
    }

    func take() -> UDPSocket? {
        socket.withLock { $0.take() }
    }
}
