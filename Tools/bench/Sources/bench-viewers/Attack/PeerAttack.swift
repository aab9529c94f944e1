import Clocks
import MediaTypes
import Threading

/// Peers that join at a steady rate and don't stay: viewers that leave after 5 s, or peers that send a ClientHello and
/// ignore the answer, but answer the host's checks.
enum PeerAttack {
    /// How long a viewer watches.
    private static let stay = Interval.seconds(5)
    /// The time for the last peer to end: a handshake gives up after 20 s.
    private static let limit = Interval.seconds(30)
    private static let refusals = ["429", "503"].map { "the server answers \($0)" }

    /// Runs until all peers have left or given up.
    ///
    /// - Parameter sent: called once when the last peer has begun.
    /// - Throws: as ``ViewerLoop``.
    static func run(_ plan: Plan, sent: () -> Void) throws -> AttackFigures {
        let loop = try ViewerLoop(plan)
        let began = MonotonicTime.now()
        let threads = loop.joining.start()
        var haveBegun = false
        loop.run(until: began + plan.length + limit) {
            let now = MonotonicTime.now()
            for viewer in loop.viewers where viewer.phase == .watching {
                if let first = viewer.firstPicture, now - first >= stay { viewer.close() }
            }
            if !haveBegun, loop.viewers.allSatisfy({ $0.phase != .joining && $0.phase != .checking }) {
                haveBegun = true
                sent()
            }
            return haveBegun && loop.viewers.allSatisfy { $0.phase == .over }
        }
        loop.joining.stop()
        if !haveBegun { sent() }
        for thread in threads { thread.join(until: .now() + .seconds(1)) }
        return figures(of: loop.viewers, plan)
    }

    private static func figures(of peers: [Viewer], _ plan: Plan) -> AttackFigures {
        let failures = peers.compactMap(\.failure)
        var figures = AttackFigures()
        figures.add("peers", peers.count)
        figures.add("refused", failures.count { failure in refusals.contains { failure.hasPrefix($0) } })
        if plan.stopsAfterHello {
            // The handshakes have ended by their time limit.
            figures.add("hellos", failures.count { $0.hasPrefix("DTLS: ") })
        } else {
            let times = peers.compactMap { peer in peer.firstPicture.map { ($0 - peer.began).seconds * 1000 } }
            figures.add("pictures", times.count)
            figures.add("join_ms", Distribution(times))
            if let first = failures.first { figures.add("failure", text: first) }
        }
        return figures
    }
}
