import CGLib
import STUN
import SecureTransport
import Signalling

/// Whether a STUN or TURN server answers, takes the credentials that viewers get, and agrees with this machine's clock.
struct ICEServerCheck {
    private let server: ICEServer
    /// The wall clock's time, in seconds since 1970.
    private let now: Int

    /// A clock that is off by less is not reported, in seconds.
    private static let tolerance = 1800
    /// How long the credentials of viewers last, in seconds.
    private static let lifetime = 86_400

    init(_ server: ICEServer, now: Int) {
        self.server = server
        self.now = now
    }

    func findings() -> [Finding] {
        do throws(ServerChannel.ChannelError) {
            if server.scheme == .stun { return try binding() }
            return try relay()
        } catch {
            return [finding(error)]
        }
    }

    private func finding(_ problem: ServerChannel.ChannelError) -> Finding {
        switch problem {
        case .unreachable(let reason):
            Finding(
                "\(kind)-unreachable", "\(server.url) can't be reached: \(reason)",
                todo: "check the server's name and port, and that firewalls let \(transportWords) through")
        case .certificate(let reason):
            Finding(
                "\(kind)-certificate", "the certificate of \(server.url) isn't trusted: \(reason)",
                todo: "give the server one for that name by an authority that browsers know")
        case .notSTUN:
            Finding(
                "\(kind)-unreachable", "the server at \(server.url) is not a STUN or TURN server",
                todo: "check the server's name and port")
        }
    }

    private var kind: String { server.scheme == .stun ? "stun" : "turn" }
    private var transportWords: String {
        switch (server.scheme, server.transport) {
        case (.turns, _): "TLS"
        case (_, .tcp): "TCP"
        default: "UDP"
        }
    }

    // MARK: - STUN

    private func binding() throws(ServerChannel.ChannelError) -> [Finding] {
        guard let identifier = Self.identifier() else { return [] }
        let request = STUNMessage.encode(
            .request, transactionID: identifier, attributes: [], key: nil, hmac: Authentication.hmacSHA1)
        let answer = try ServerChannel(server).ask(request, identifier)
        if answer.messageClass == .success, answer.xorMappedAddress != nil { return [] }
        return [
            Finding(
                "stun-refused", "\(server.url) doesn't report our address: \(Self.text(of: answer.errorCode))",
                todo: "use another server")
        ]
    }

    // MARK: - TURN

    private func relay() throws(ServerChannel.ChannelError) -> [Finding] {
        // RFC 7065 has it, browsers don't, and neither have we a DTLS client.
        if server.scheme == .turns, server.transport == .udp { return [] }
        let credentials = server.credentials(until: now + Self.lifetime)
        switch try TURNAllocation.attempt(at: server, with: credentials) {
        case .allocated: return try clock()
        case .refused(401, let reason), .refused(441, let reason):
            let cause =
                if case .secret = server.credentials {
                    "the secret of --ice-secret-file is not the server's, or the clocks differ by more than a day"
                } else {
                    "the user's name or the password is wrong"
                }
            return [
                Finding(
                    "turn-credentials", "\(server.url) refuses the credentials (401 \(reason)): \(cause)",
                    todo: "compare them with the server's (coturn: static-auth-secret, user)")
            ]
        case .refused(let code, let reason):
            return [
                Finding(
                    "turn-refused", "\(server.url) gives no relay: \(code) \(reason)",
                    todo: "look into the server's log and its limits")
            ]
        }
    }

    /// Compares the clocks: credentials from a secret end at a time on our clock, and the server judges that by its
    /// clock.
    private func clock() throws(ServerChannel.ChannelError) -> [Finding] {
        guard case .secret = server.credentials else { return [] }
        let minutes = Self.tolerance / 60
        let todo = "set the wrong one of the two clocks, for example with systemd-timesyncd"
        if try !takes(until: now + Self.tolerance) {
            return [
                Finding(
                    "clock",
                    "this machine's clock is at least \(minutes) minutes behind the clock of \(server.url), which "
                        + "considers credentials expired that end \(minutes) minutes from now",
                    todo: todo)
            ]
        }
        // A server that takes any time doesn't tell its own.
        if try takes(until: now - Self.tolerance), try !takes(until: 1) {
            return [
                Finding(
                    "clock",
                    "this machine's clock is at least \(minutes) minutes ahead of the clock of \(server.url), which "
                        + "accepts credentials that ended \(minutes) minutes ago",
                    todo: todo)
            ]
        }
        return []
    }

    private func takes(until time: Int) throws(ServerChannel.ChannelError) -> Bool {
        switch try TURNAllocation.attempt(at: server, with: server.credentials(until: time)) {
        case .allocated: true
        // Anything but the refusal of credentials says nothing about them.
        case .refused(let code, _): code != 401
        }
    }

    static func identifier() -> STUNMessage.TransactionID? { STUNMessage.TransactionID(SecureRandom.bytes(12)) }

    private static func text(of error: (code: Int, reason: String)?) -> String {
        error.map { "\($0.code) \($0.reason)" } ?? "there is none in its answer"
    }
}
