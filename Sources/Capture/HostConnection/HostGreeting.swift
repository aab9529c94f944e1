import CaptureLink
import LinkTransport
import MediaTypes

/// The messages that the host of one connection has to send before anything else is sent to it: if there is a token,
/// its hello and, over TCP, the proof that it has the token too.
struct HostGreeting {
    /// What to do with a message of the host.
    enum Step {
        case handle(LinkMessage)
        case send(LinkMessage)
        /// Leave this host for good, for this reason.
        case refuse(String)
        case nothing
    }

    /// Whether the host has sent its hello. Until then, it may be one that reads every message as a unit of a picture.
    private(set) var hasHello = false
    private let needsHello: Bool
    let since: MonotonicTime
    private var check: HostCheck?
    /// The hello that the host sent before it proved that it has the token.
    private var earlyHello: LinkMessage?

    /// How long a host may take.
    static let timeout = Interval.seconds(5)

    /// Begins with a connection that was made at `since`.
    init(_ configuration: HostLinkConfiguration, _ since: MonotonicTime) {
        self.since = since
        needsHello = configuration.token != nil
        guard let token = configuration.token, configuration.link.network != nil else { return }
        var generator = SystemRandomNumberGenerator()
        check = HostCheck(token: token.bytes, nonce: LinkProof.nonce(using: &generator))
    }

    /// Whether the host still has to prove that it has the token.
    private var isProving: Bool { check != nil }
    /// Whether messages may be sent: nothing is sent to a host before it has proved that it has the token, nor does it
    /// accept anything before that.
    var isOver: Bool { !isProving && (hasHello || !needsHello) }
    /// The time by which it has to be over; nil if it is.
    var deadline: MonotonicTime? { isOver ? nil : since + Self.timeout }

    /// Handles the host's next message.
    mutating func take(_ message: LinkMessage) -> Step {
        guard let step = check?.take(message) else { return .handle(message) }
        switch step {
        case .answer(let answer): return .send(answer)
        case .failed(let failure): return .refuse(failure.text)
        case .proven:
            check = nil
            return earlyHello.map { .handle($0) } ?? .nothing
        case .other:
            if case .end = message { return .handle(message) }
            if case .hello = message { earlyHello = message }
            return .nothing
        }
    }

    /// Notes the host's hello; returns whether it is the first.
    mutating func noteHello() -> Bool {
        defer { hasHello = true }
        return !hasHello
    }
}
