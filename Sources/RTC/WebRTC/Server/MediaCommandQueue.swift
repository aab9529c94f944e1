import MediaSessions
import MediaTypes
import STUN
import Synchronization
import Threading

/// A command from another thread to a media thread.
enum MediaCommand: Sendable {
    case open(SessionParameters, [WatchedTrack], onEnd: @Sendable (SessionEnd) -> Void)
    /// Waits for the answer to the session's offer: calls `giveUp` at `deadline`, unless the session is opened before.
    case expectAnswer(MediaSessionID, deadline: MonotonicTime, giveUp: @Sendable (String) -> Void)
    case restartICE(MediaSessionID, ICEAgent)
    /// Candidates that the session's peer found after its description.
    case candidates(MediaSessionID, [RemoteCandidate])
    /// The addresses of STUN servers that were looked up.
    case stunServers([STUNServerName: [TransportAddress]])
    case publish(SessionParameters, [Publication], onEnd: @Sendable (SessionEnd) -> Void)
    case openFrameViewer(FrameRequest)
    case confirmPictures(MediaSessionID, through: UInt32, arrival: MonotonicTime)
    /// Sound for a viewer of whole pictures, or none.
    case setAudioEnabled(Bool, MediaSessionID)
    case requestKeyFrame(MediaSessionID)
    case close(MediaSessionID)
    case setPlayoutDelay(MediaSessionID, Interval)
    case watchPointer(MediaSessionID, @Sendable (PointerChange) -> Void)
    case watchPath(MediaSessionID, @Sendable (TransportAddress) -> Void)
    case enableKeepalive(MediaSessionID, timeout: Interval, onConnect: @Sendable () -> Void)
    /// What the first loop has received for this one.
    case datagrams(ReceivedDatagrams)
    /// A TCP connection to one of this loop's sessions, and what was read from it last.
    case takeConnection(Sent<StreamConnection>, read: [UInt8])
    /// Closes the TCP connection of this number, to make room for another one.
    case closeConnection(UInt32)
    case stop
}

/// A media thread's commands; closed once it has ended.
typealias MediaCommandQueue = Mailbox<MediaCommand>

/// What other threads may know of a loop's sessions that watch. Its thread sets it.
final class SharedStatistics: Sendable {
    private let current = Mutex<(sessions: [PeerStatistics], totals: MediaTotals)>(([], MediaTotals()))
    private let currentLoad = Mutex(LoopLoad(now: .zero))

    var sessions: [PeerStatistics] { current.withLock { $0.sessions } }
    var totals: MediaTotals { current.withLock { $0.totals } }
    /// The media thread's load, at most about a second old while there are viewers.
    var load: LoopLoad { currentLoad.withLock { $0 } }

    func set(_ sessions: [PeerStatistics], _ record: SendingStatistics) {
        let totals = record.totals(with: sessions)
        current.withLock { $0 = (sessions, totals) }
    }

    func set(_ load: LoopLoad) { currentLoad.withLock { $0 = load } }
}
