import Clocks
import MediaSessions
import MediaTypes
import ScreenRelayKit
import Signalling
import SocketIORooms
import Threading
import TrackHub

/// The membership in somebody's room: connects, tries again, and gives each other member a session with the track.
///
/// It belongs to its thread, on which everything here runs.
///
/// The `Sendable` conformance is unchecked, because other threads hand it to that thread; each entry point checks in
/// debug builds that it is called there.
final class RoomMembership: @unchecked Sendable {
    /// The largest message that a server may send, in bytes, and the most of them within a second, besides those for
    /// each member with a session: an answer and its candidates come at once from all who are there when we enter.
    private static let limits = (bytes: 64 * 1024, messages: 200, messagesOfMember: 32)
    /// How long a server may take to open the connection, and then to let us in.
    private static let timeout = Interval.seconds(10)
    /// The first and the longest wait before another try.
    private static let waits = (first: Interval.seconds(1), longest: Interval.seconds(30))
    /// A membership that lasted for so long is begun again at once.
    private static let lasting = Interval.seconds(30)

    private enum Phase {
        /// To be connected by the deadline.
        case connecting(deadline: MonotonicTime)
        /// Connected, and to be inside by the deadline.
        case entering(deadline: MonotonicTime)
        case inside(since: MonotonicTime)
        case waiting(until: MonotonicTime)
        case ended
    }

    private struct MemberSession {
        let number: Int
        let session: TrackSession
    }

    private let target: JoinTarget
    private let track: HostedTrack
    private let thread: ConnectionThread
    private let log: EventLog
    private let tell: @Sendable (JoinState) -> Void

    private var phase = Phase.ended
    private var socket: ClientWebSocket?
    private var conversation: any Conversation
    private var version = EngineVersion.four
    private var hasTriedOther = false
    private var wait = RoomMembership.waits.first
    private var sessions: [String: MemberSession] = [:]
    /// Why members get no picture.
    private var refusals: [String: String] = [:]
    private var lastNumber = 0
    private var state = JoinState.joining
    private var told: JoinState?
    /// Whether it has been logged as a warning that a member sees nothing.
    private var hasWarned = false
    private var messages = (second: MonotonicTime.zero, count: 0)

    /// - Parameter tell: called with each new state, but not more often than four times a second.
    init(
        _ track: HostedTrack, in target: JoinTarget, on thread: ConnectionThread, log: EventLog,
        tell: @escaping @Sendable (JoinState) -> Void
    ) {
        self.track = track
        self.target = target
        self.thread = thread
        self.log = log
        self.tell = tell
        conversation = target.conversation(.four)
    }

    func begin() {
        thread.check()
        connect()
        report()
        thread.tick(every: .milliseconds(250)) { [self] in
            poll()
            report()
        }
    }

    /// Leaves the room, and ends all sessions.
    func end() {
        thread.check()
        for text in conversation.farewell { socket?.send(text) }
        disconnect()
        phase = .ended
        state = .ended
        report()
    }

    private func report() {
        if case .inside = phase { state = .joined(members: conversation.calls.count, excluded: excluded) }
        guard told != state else { return }
        told = state
        tell(state)
    }

    private var excluded: ExcludedMembers? {
        refusals.keys.min().flatMap { refusals[$0] }.map { ExcludedMembers(count: refusals.count, reason: $0) }
    }

    private func poll() {
        thread.check()
        let now = MonotonicTime.now()
        switch phase {
        case .waiting(let until): if now >= until { connect() }
        case .connecting(let deadline) where now >= deadline:
            fail(.broken("no answer within \(Self.timeout.milliseconds / 1000) s"))
        case .entering(let deadline) where now >= deadline:
            fail(.broken("the server hasn't let us in within \(Self.timeout.milliseconds / 1000) s"))
        case .entering, .inside: perform(conversation.poll(at: now))
        case .connecting, .ended: break
        }
    }
}

// MARK: - The connection

extension RoomMembership {
    private func connect() {
        phase = .connecting(deadline: .now() + Self.timeout)
        conversation = target.conversation(version)
        let socket = ClientWebSocket(to: target.address(version), limit: Self.limits.bytes, on: thread.context) {
            [weak self] event in self?.take(event)
        }
        self.socket = socket
        socket.connect()
    }

    private func disconnect() {
        socket?.close()
        socket = nil
        sessions = [:]
        refusals = [:]
    }

    private func take(_ event: ClientWebSocket.Event) {
        thread.check()
        let now = MonotonicTime.now()
        switch event {
        case .opened:
            phase = .entering(deadline: now + Self.timeout)
            perform(conversation.begin(at: now))
        case .message(let text):
            if now - messages.second >= .seconds(1) { messages = (now, 0) }
            messages.count += 1
            guard messages.count <= Self.limits.messages + Self.limits.messagesOfMember * sessions.count else {
                return fail(.broken("the server sends too many messages"))
            }
            perform(conversation.take(text, at: now))
        case .ended(let failure):
            if case .refused = failure, target.spoken == .socketIO, !hasTriedOther {
                // It may speak the other version alone.
                version = version == .four ? .three : .four
                hasTriedOther = true
                disconnect()
                return connect()
            }
            fail(.broken(failure.description))
        }
    }

    /// The connection has ended, or is of no use; it is tried again.
    private func fail(_ failure: RoomJoinError) {
        disconnect()
        let now = MonotonicTime.now()
        let next: Interval
        if case .inside(let since) = phase, now - since >= Self.lasting {
            (next, wait) = (.zero, Self.waits.first)
        } else {
            (next, wait) = (wait, min(wait * 2, Self.waits.longest))
        }
        hasTriedOther = false
        phase = .waiting(until: now + next)
        state =
            switch failure {
            case .full: .full
            case .broken(let reason): .waiting(because: reason)
            }
        log.debug("\(target): \(state)")
    }
}

// MARK: - The members

extension RoomMembership {
    private func perform(_ wishes: [Wish]) {
        var left = wishes[...]
        while let wish = left.popFirst() {
            switch phase {
            case .entering, .inside: left = (carryOut(wish) + left)[...]
            case .connecting, .waiting, .ended: return
            }
        }
    }

    /// Does one thing; returns what follows from it.
    private func carryOut(_ wish: Wish) -> [Wish] {
        let now = MonotonicTime.now()
        switch wish {
        case .send(let text): socket?.send(text)
        case .joined: phase = .inside(since: now)
        case .waits:
            // The server answers pings meanwhile. Another attempt would only be one more who waits.
            phase = .entering(deadline: .distantFuture)
            state = .waitingToBeLetIn
        case .offer(let member):
            do throws(MediaSessionError) {
                let number = nextNumber()
                let session = try track.offer { [weak self] in self?.sessionEnded(number, of: member, $0) }
                sessions[member] = MemberSession(number: number, session: session)
                return [.send(conversation.offer(session.description, to: member))]
            } catch {
                lost(member, error)
            }
        case .answer(let member, let offer):
            do throws(MediaSessionError) {
                let number = nextNumber()
                let session = try track.answer(offer) { [weak self] in self?.sessionEnded(number, of: member, $0) }
                sessions[member] = MemberSession(number: number, session: session)
                conversation.calls.answered(member, at: now)
                refusals[member] = nil
                return [.send(conversation.answer(session.description, to: member))]
            } catch {
                // What it can't decode is in our offer, too, and it may not answer that beside its own.
                if error == .unsupported(ChromaPolicy.exclusion) {
                    lost(member, error)
                    return []
                }
                log.info("\(target): can't answer a member's offer (\(error)); sending our own offer")
                return conversation.calls.notAnswered(member)
            }
        case .accept(let member, let answer):
            do throws(MediaSessionError) {
                try sessions[member]?.session.accept(answer: answer)
                refusals[member] = nil
            } catch {
                sessions[member] = nil
                lost(member, error)
            }
        case .candidate(let member, let candidate): sessions[member]?.session.add(candidate: candidate)
        case .close(let member):
            sessions[member] = nil
            refusals[member] = nil
        case .fail(let failure): fail(failure)
        }
        return []
    }

    private func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private func lost(_ member: String, _ refusal: MediaSessionError) {
        tellRefused(member, "\(refusal)")
        conversation.calls.lost(member, at: MonotonicTime.now())
    }

    /// A member sees nothing. The first one is worth a warning: members can't see the reason themselves.
    private func tellRefused(_ member: String, _ reason: String) {
        refusals[member] = reason
        let line = "\(target): a member gets no picture: \(reason)"
        if hasWarned { log.info(line) } else { log.warning(line) }
        hasWarned = true
    }

    /// A session has ended by itself. Any thread.
    private func sessionEnded(_ number: Int, of member: String, _ reason: String) {
        thread.post { [weak self] in
            guard let self, sessions[member]?.number == number else { return }
            thread.check()
            sessions[member] = nil
            if reason == ChromaPolicy.exclusion {
                tellRefused(member, reason)
            } else {
                log.info("\(target): the session with a member has ended: \(reason)")
            }
            conversation.calls.lost(member, at: MonotonicTime.now())
        }
    }
}
