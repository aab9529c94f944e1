import MediaTypes
import Rooms

/// A member's right to present, or its request for it.
enum Turn: String {
    /// It has asked for the turn.
    case asked
    /// It may present until its turn ends.
    case granted
    /// It has joined with the presenters' token: it may present, and decides about the turns of others.
    case owner
}

/// A viewer's turn to present, as its page is told it.
struct TurnReport {
    /// The turn in one word; nil if the viewer can neither present nor ask.
    let word: String?
    /// The seconds that are left of it; nil if it has no end.
    let secondsLeft: Int?
    /// The seconds until the viewer may ask again, because its request was declined; nil if it may ask.
    let secondsToWait: Int?

    init(_ word: String?, end: MonotonicTime? = nil, mayAskFrom: MonotonicTime = .zero, now: MonotonicTime) {
        self.word = word
        secondsLeft = end.map { Self.seconds(max(.zero, $0 - now)) }
        secondsToWait = mayAskFrom > now ? Self.seconds(mayAskFrom - now) : nil
    }

    private static func seconds(_ interval: Interval) -> Int { Int(interval.seconds.rounded(.up)) }
}

/// A decision about a member's turn to present.
public enum TurnDecision: String, Sendable, CaseIterable {
    /// Allows a member that has asked to present.
    case allow
    /// Declines the request of a member.
    case decline
    /// Ends a member's turn, and what it presents.
    case end

    /// The length of a turn in its only spelling: 1 to 31 536 000 s, a year. Nil for another text.
    static func seconds(_ text: some StringProtocol) -> Int? {
        guard let seconds = Int(text), "\(seconds)" == text, (1...31_536_000).contains(seconds) else { return nil }
        return seconds
    }
}

/// A viewer's message about the turn to present: `__turn`.
enum TurnRequest {
    /// It asks for the turn.
    case ask
    /// It withdraws its request, or gives its turn back.
    case leave
    /// It hands its turn over to a member that has asked.
    case pass(MemberID)
    /// It decides about another member's turn.
    case decide(TurnDecision, MemberID)

    /// Creates the request that `action` names, about the member `target`. Nil for another word.
    init?(action: String, target: MemberID) {
        switch action {
        case "ask": self = .ask
        case "leave": self = .leave
        case "pass": self = .pass(target)
        default:
            guard let decision = TurnDecision(rawValue: action) else { return nil }
            self = .decide(decision, target)
        }
    }
}
