import Clocks
import FoundationEssentials
import MediaTypes
import Rooms
import Synchronization

/// The chats of all rooms: keeps their last messages, and passes each on to the viewers of its room, the writer too.
///
/// A viewer that has a name may write, unless the host's user has switched that off. A message beyond
/// ``messagesPerMember`` or ``messagesPerRoom`` is refused and counted. A viewer that hasn't read what it was sent gets
/// what it has missed in one message afterwards, as far as the room's ``ChatLog`` goes back. So however much is written
/// and however slowly it is read, the host keeps one log for each room, and one such message for each viewer. A
/// newcomer gets earlier messages if it asks for them. All viewers together get at most about 6,700 messages per
/// second.
///
/// Belongs to the site's thread.
final class Chat {
    /// How often a member may write.
    static let messagesPerMember = MessageAllowance(perSecond: 1, burst: .seconds(5))
    /// How often all members of a room together may write.
    static let messagesPerRoom = MessageAllowance(perSecond: 20, burst: .seconds(2))
    /// How often a member may ask for earlier messages.
    static let requestsPerMember = MessageAllowance(perSecond: 1, burst: .seconds(5))
    /// The minimum time between two messages to one viewer.
    private static let period = Interval.milliseconds(100)
    /// The minimum time for each message that was sent.
    private static let pausePerMessage = Interval.microseconds(150)

    private struct Talk {
        var log = ChatLog()
        var allowance = Chat.messagesPerRoom
    }

    private let rooms: HostRooms
    private let state: ViewerPermission
    private let onChat: @Sendable (ChatNews) -> Void
    private let context: OpaquePointer
    /// Whether pages have been told that their users may write.
    private var isAllowed: Bool
    /// Keyed by room. A room in which no one has written has no entry.
    private var talks: [String: Talk] = [:]
    /// The rooms with viewers that haven't been sent everything.
    private var unheard: Set<String> = []
    /// Runs for a while after each message.
    private var timer: EventSource?
    private var isTelling = false

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, state: ViewerPermission, on context: OpaquePointer
    ) {
        self.rooms = rooms
        self.state = state
        self.context = context
        onChat = configuration.onChat
        isAllowed = state.isAllowed.load(ordering: .relaxed)
    }

    /// The state of the room's chat; nil while no one may write.
    func summary(of room: String) -> ChatSummary? { isAllowed ? (talks[room] ?? Talk()).log.summary : nil }

    /// A viewer has joined `room`, or continues there. It has been told the chat's state, and asks for messages itself.
    func joined(_ member: RoomMember, _ room: String) { member.chatHeard = talks[room]?.log.lastNumber ?? 0 }

    /// Carries out a member's request. Returns false if it counts as a message without effect.
    func carryOut(_ request: ChatRequest, of member: RoomMember) -> Bool {
        guard let place = rooms.directory.place(of: member.id), place.role == .viewer else { return false }
        guard isAllowed else {
            // The page can't know yet.
            member.socket.send(SkyRTCReply(chat: nil).text)
            return false
        }
        switch request {
        case .write(let text, let number):
            guard let name = place.name else { return refuse(.unnamed, number, of: member) }
            return write(text, number, of: member, called: name, in: place.room)
        case .read(let number):
            guard member.chatRequests.take(at: .now()) else { return false }
            member.chatHeard = max(0, min(number, talks[place.room]?.log.lastNumber ?? 0))
            news(in: place.room)
            return true
        }
    }

    /// Switches the chat on or off, as the host's user has ordered. Off forgets all messages, even if the chat has been
    /// switched on again meanwhile.
    func carryOut(isAllowed: Bool) {
        change(to: isAllowed)
        // Orders of several threads may come in another order than they were stored.
        change(to: state.isAllowed.load(ordering: .relaxed))
    }

    /// Tells the viewers of all rooms if this is a change.
    private func change(to isAllowed: Bool) {
        guard isAllowed != self.isAllowed else { return }
        self.isAllowed = isAllowed
        if !isAllowed {
            for room in talks.keys { talks[room]?.log.clear() }
            unheard = []
        }
        for room in rooms.directory.roomNames { rooms.tellViewers(of: room, SkyRTCReply(chat: summary(of: room)).text) }
    }

    /// Forgets the chat of a room whose links have expired.
    func expire(_ room: String) {
        talks[room] = nil
        unheard.remove(room)
    }

    /// Forgets all chats.
    func stop() {
        timer = nil
        talks = [:]
        unheard = []
    }
}

// MARK: - Writing

extension Chat {
    private func write(_ text: String, _ number: Int?, of member: RoomMember, called name: String, in room: String)
        -> Bool
    {
        let now = MonotonicTime.now()
        // Limited before anything else is done with the text.
        guard member.chatMessages.take(at: now), talks[room, default: Talk()].allowance.take(at: now) else {
            state.dropped.wrappingAdd(1, ordering: .relaxed)
            _ = refuse(.rate, number, of: member)
            return true
        }
        guard let clean = ChatText.clean(text) else { return refuse(.length, number, of: member) }
        guard !clean.isEmpty else { return false }
        let time = Int64(Date().timeIntervalSince1970 * 1000)
        talks[room, default: Talk()].log.append(clean, from: member.id.text, name: name, time: time)
        onChat(ChatNews(room: room, id: member.id.text, name: name, text: clean))
        news(in: room)
        return true
    }

    /// Returns false.
    private func refuse(_ reason: ChatRefusal, _ number: Int?, of member: RoomMember) -> Bool {
        member.socket.send(SkyRTCReply(chatRefusal: reason, number: number).text)
        return false
    }
}

// MARK: - Telling the pages

extension Chat {
    private func news(in room: String) {
        unheard.insert(room)
        if timer == nil, !isTelling { tell() }
    }

    /// Sends each viewer what it has missed. Repeats that after a while, as long as there is something.
    private func tell() {
        isTelling = true
        var count = 0
        for room in Array(unheard) { count += tell(room) }
        isTelling = false
        guard count > 0 || !unheard.isEmpty else { return timer = nil }
        let wait = max(Self.period, Self.pausePerMessage * Int64(count))
        timer = EventSource.timer(every: wait, on: context, of: self) { chat in
            chat.tell()
            return false
        }
    }

    /// Sends each viewer of a room what it has missed, unless it still has other messages to read. Returns the number
    /// of messages.
    private func tell(_ room: String) -> Int {
        unheard.remove(room)
        guard let log = talks[room]?.log else { return 0 }
        // By how many messages viewers have missed, which is the same for most of them.
        var frames: [Int: [UInt8]] = [:]
        var count = 0
        for viewer in rooms.viewers(in: room) where viewer.chatHeard < log.lastNumber {
            // Pictures that come over the WebSocket may follow one another without a gap.
            guard viewer.socket.unsentCount == 0 else {
                unheard.insert(room)
                continue
            }
            let messages = Array(log.messages(after: viewer.chatHeard))
            let frame =
                frames[messages.count]
                ?? WebSocketFrame.text(SkyRTCReply(chat: log.summary, messages: messages).text)
            frames[messages.count] = frame
            viewer.chatHeard = log.lastNumber
            count += 1
            viewer.socket.send(frame: frame)
        }
        return count
    }
}
