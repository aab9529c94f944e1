import MediaSessions
import MediaTypes
import STUN
import Synchronization
import Threading
import TrackHub

/// A command from another thread to the media thread.
enum MediaCommand: Sendable {
    case open(SessionParameters, TrackHub, onEnd: @Sendable (String) -> Void)
    /// Waits for the answer to the session's offer: calls `giveUp` at `deadline`, unless the session is opened before.
    case expectAnswer(MediaSessionID, deadline: MonotonicTime, giveUp: @Sendable (String) -> Void)
    case restartICE(MediaSessionID, LiteAgent)
    case publish(SessionParameters, Publication, onEnd: @Sendable (String) -> Void)
    case requestKeyFrame(MediaSessionID)
    case close(MediaSessionID)
    case watchPointer(MediaSessionID, @Sendable (PointerChange) -> Void)
    case statistics(@Sendable ([PeerStatistics]) -> Void)
    case stop
}

/// The media thread's command queue. Any thread posts commands; each wakes the media thread, which takes all of them.
final class MediaInbox: Sendable {
    let wake: WakeUp
    /// The queued commands; nil once the media thread has ended.
    private let commands = Mutex<[MediaCommand]?>([])

    init?() {
        guard let wake = WakeUp() else { return nil }
        self.wake = wake
    }

    /// Posts `command`. Returns false if the media thread has ended and will not read it.
    @discardableResult
    func post(_ command: MediaCommand) -> Bool {
        let isOpen = commands.withLock { commands in
            commands?.append(command)
            return commands != nil
        }
        if isOpen { wake.signal() }
        return isOpen
    }

    /// Removes and returns the commands posted since the last call.
    func take() -> [MediaCommand] {
        commands.withLock { commands in
            guard let taken = commands, !taken.isEmpty else { return [] }
            commands = []
            return taken
        }
    }

    /// Closes the queue and returns the remaining commands; nothing can be posted afterwards.
    func close() -> [MediaCommand] {
        commands.withLock { commands in
            defer { commands = nil }
            return commands ?? []
        }
    }
}

/// Hands the socket, which has a single owner, over to the media thread.
final class SocketHandover: Sendable {
    private let socket: Mutex<UDPSocket?>

    init(_ socket: consuming UDPSocket) {
        self.socket = Mutex(socket)
    }

    func take() -> UDPSocket? {
        socket.withLock { $0.take() }
    }
}
