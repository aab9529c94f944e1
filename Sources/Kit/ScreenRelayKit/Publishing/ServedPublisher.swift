import Synchronization
import Threading

/// A client that has claimed a track through a server other than the host's own, such as the one for RTMP.
///
/// Methods may be called on any thread.
package final class ServedPublisher: Sendable {
    /// Its identifier among the participants of the room.
    package let id: String
    /// The track that it publishes into.
    package let track: HostedTrack
    /// The address of the client's machine.
    package let address: String
    private let onEnding: @Sendable () -> Void
    private let reason = Mutex<String?>(nil)
    private let thread = Mutex<NamedThread?>(nil)
    private let hasEnded = Flag()

    init(_ id: String, into track: HostedTrack, from address: String, onEnding: @escaping @Sendable () -> Void) {
        self.id = id
        self.track = track
        self.address = address
        self.onEnding = onEnding
    }

    /// Why its connection has to end; nil if it may go on.
    package var ending: String? { reason.withLock { $0 } }

    /// Ends its connection, soon. The first reason counts.
    package func end(because reason: String) {
        self.reason.withLock { $0 = $0 ?? reason }
        onEnding()
    }

    /// Gives the track back without having published.
    package func giveUp() { hasEnded.set() }

    /// Whether it has ended.
    var isOver: Bool { hasEnded.isSet }

    /// Runs `body` on a thread of its own, then `onEnd`. Returns false if the process has no thread left.
    func start(_ name: String, onEnd: @escaping @Sendable () -> Void, body: @escaping @Sendable () -> Void) -> Bool {
        let run: @Sendable () -> Void = { [hasEnded] in
            body()
            hasEnded.set()
            onEnd()
        }
        guard let made = NamedThread(name, blocksSignals: true, body: run) else { return false }
        thread.withLock { $0 = made }
        return true
    }

    /// Waits until its thread has ended, if it has one.
    func join() { thread.withLock { $0 }?.join() }
}
