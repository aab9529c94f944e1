import SocketIORooms
import Testing

@Suite("Where one of two stands")
struct PairStateTests {
    /// Every step that there is; nil where a notice doesn't fit.
    static let steps: [PairState: [PairNotice: PairState]] = [
        .left: [.joined: .joined, .full: .left, .left: .left],
        .joined: [.otherJoined: .connected, .bye: .unbound, .left: .left],
        .connected: [.bye: .unbound, .left: .left],
        .unbound: [.otherJoined: .connected, .left: .left],
    ]

    @Test(
        "each notice leads on as the clients have it, or doesn't fit", arguments: PairState.allCases,
        PairNotice.allCases)
    func step(from: PairState, notice: PairNotice) {
        var state = from
        let next = Self.steps[from]?[notice]
        let fits = state.take(notice)
        #expect(fits == (next != nil))
        #expect(state == next ?? from)
    }

    @Test("a whole life: in, the other comes, goes, comes again, and out")
    func life() {
        var state = PairState.left
        var seen: [PairState] = []
        for notice in [PairNotice.joined, .otherJoined, .bye, .otherJoined, .bye, .left] {
            let fits = state.take(notice)
            #expect(fits)
            seen.append(state)
        }
        #expect(seen == [.joined, .connected, .unbound, .connected, .unbound, .left])
        #expect(PairState.allCases.filter(\.isInside) == [.joined, .connected, .unbound])
    }
}
