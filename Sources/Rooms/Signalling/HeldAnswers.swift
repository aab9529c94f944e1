import CGLib

/// Answers that wait a while, so that who guesses has to wait too, and nobody else. Belongs to the site's thread.
final class HeldAnswers {
    /// How many may wait at once.
    static let most = 64

    private struct Held {
        let timer: EventSource
        let say: () -> Void
    }

    private let context: OpaquePointer
    private var held: [UInt64: Held] = [:]
    private var lastTicket: UInt64 = 0

    init(on context: OpaquePointer) {
        self.context = context
    }

    /// Has `say` done in `milliseconds`; false where too many wait already.
    func hold(for milliseconds: Int, _ say: @escaping () -> Void) -> Bool {
        guard held.count < Self.most else { return false }
        lastTicket += 1
        let ticket = lastTicket
        let timer = EventSource.timer(every: UInt32(clamping: max(1, milliseconds)), on: context) { [unowned self] in
            held.removeValue(forKey: ticket)?.say()
            return false
        }
        guard let timer else { return false }
        held[ticket] = Held(timer: timer, say: say)
        return true
    }

    /// Has all of them said now.
    func release() {
        let all = held.values
        held = [:]
        for one in all { one.say() }
    }
}
