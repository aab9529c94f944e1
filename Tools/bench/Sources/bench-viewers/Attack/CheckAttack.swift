import CBench
import Clocks
import Glibc
import MediaTypes
import SDP
import STUN
import SecureTransport
import Threading

/// Checks of ICE with wrong passwords, from many ports, at a steady rate, and what the host answers.
///
/// They name sessions that exist, because the host verifies the password of no other check. Belongs to one thread.
final class CheckAttack {
    /// How long checks may go on. A host ends a session without a right check after 30 s.
    static let maxLength = Interval.seconds(25)

    private static let (sessionCount, checksOfSession) = (8, 32)
    /// Not a divisor of the number of checks, so that each port sends all of them.
    private static let portCount = 250
    /// The most checks between two pauses, so that a delay isn't followed by a burst that fills the host's socket.
    private static let burst = 200

    private let checks: [[UInt8]]
    private let sockets: [Int32]
    private let epoll: Int32
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Int(cbench_batch * cbench_room), alignment: 64)
    private let datagrams = UnsafeMutablePointer<cbench_datagram>.allocate(capacity: Int(cbench_batch))
    private var ready = [UInt64](repeating: 0, count: CheckAttack.portCount)
    private var next = 0
    private var sent = 0
    private var sentBytes = 0
    private var answers = 0
    private var answerBytes = 0
    private var longestAnswer = 0

    /// Opens the sessions, and the sockets.
    ///
    /// - Throws: ``BenchFailure`` if the host refuses a session or no socket can be made, or `SecureTransportError`.
    init(_ address: WHEPAddress) throws {
        guard cbench_raise_files() >= CheckAttack.portCount + 64 else {
            throw BenchFailure("the limit of open files is too low for \(CheckAttack.portCount) ports (ulimit -n)")
        }
        let agreements = try CheckAttack.agreements(address)
        guard let host = agreements.first?.hostAddress else { throw BenchFailure("no thread left for signalling") }
        checks = agreements.flatMap { CheckAttack.wrongChecks(of: $0) }
        epoll = cbench_epoll()
        guard epoll >= 0 else { throw BenchFailure.system("epoll") }
        var sockets: [Int32] = []
        for index in 0..<CheckAttack.portCount {
            let socket = cbench_udp_connected(host.address, host.port)
            guard socket >= 0, cbench_epoll_add(epoll, socket, UInt64(index)) == 0 else {
                throw BenchFailure.system("a socket")
            }
            sockets.append(socket)
        }
        self.sockets = sockets
    }

    deinit {
        for socket in sockets { close(socket) }
        close(epoll)
        buffer.deallocate()
        datagrams.deallocate()
    }

    /// Sends checks for so long, and counts the datagrams both ways, without their UDP headers.
    func run(rate: Int, for length: Interval) -> AttackFigures {
        let began = MonotonicTime.now()
        while true {
            let elapsed = MonotonicTime.now() - began
            guard elapsed < length else { break }
            let due = Int(elapsed.seconds * Double(rate)) - sent
            for _ in 0..<min(Self.burst, max(0, due)) { sendCheck() }
            receive()
            cbench_sleep(1_000_000)
        }
        // The last answers.
        cbench_sleep(200_000_000)
        receive()
        var figures = AttackFigures()
        figures.add("sent", sent)
        figures.add("sent_bytes", sentBytes)
        figures.add("shortest_check", checks.map(\.count).min() ?? 0)
        figures.add("answers", answers)
        figures.add("answer_bytes", answerBytes)
        figures.add("longest_answer", longestAnswer)
        figures.add("drops", sockets.reduce(0) { $0 + Int(cbench_drops($1)) })
        return figures
    }

    private static func agreements(_ address: WHEPAddress) throws -> [Agreement] {
        let plan = Plan(joining: address, rate: sessionCount, for: .seconds(1))
        let joining = try Joining(plan, fingerprint: Certificate().fingerprint.sdpValue)
        for thread in joining.start() { thread.join() }
        return try joining.outcomes.take().map { outcome in try outcome.result.get() }
    }

    private static func wrongChecks(of agreement: Agreement) -> [[UInt8]] {
        let agent = ICEAgent(
            localUfrag: agreement.ufrag, localPassword: agreement.password, remoteUfrag: agreement.hostUfrag,
            remotePassword: SecureRandom.iceCredentials().password,
            role: .controlling(tieBreaker: SecureRandom.uint64()))
        return (0..<checksOfSession).compactMap { _ in
            STUNMessage.TransactionID(SecureRandom.bytes(12)).map { id in
                agent.request(id, nominates: true, hmac: Authentication.hmacSHA1)
            }
        }
    }

    /// Sends the next check from the next port. One that the kernel doesn't take isn't counted.
    private func sendCheck() {
        let (check, socket) = (checks[next % checks.count], sockets[next % sockets.count])
        next += 1
        let count = check.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return }
        sent += 1
        sentBytes += count
    }

    private func receive() {
        let count = Int(cbench_epoll_wait(epoll, &ready, Int32(Self.portCount), 0))
        for place in 0..<max(0, count) { receive(from: sockets[Int(ready[place])]) }
    }

    private func receive(from socket: Int32) {
        var count: Int32
        repeat {
            count = cbench_receive(socket, buffer, datagrams)
            for place in 0..<Int(max(0, count)) {
                let size = Int(datagrams[place].count)
                answers += 1
                answerBytes += size
                longestAnswer = max(longestAnswer, size)
            }
        } while count == cbench_batch
    }
}
