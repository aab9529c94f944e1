import Clocks
public import MediaTypes
public import OutputLife
import Signalling
import Threading

/// One attempt to have a WebRTC session accepted by a server, and the server's side of that session until its end. Has
/// a thread of its own. Methods may be called on any other thread, and don't wait unless their comment states it.
public final class ServerConnection: Sendable {
    /// An event of the attempt.
    public enum Event: Sendable {
        /// What else the server has named: TURN servers, perhaps none. Precedes the answer of WHIP and WHEP.
        case named(NamedServers)
        /// The server has accepted the session, with this SDP answer.
        case answered(String)
        /// The server has refused the session, or has ended it.
        case failed(OutputError)
        /// The session has ended after ``ServerConnection/close()``.
        case closed
    }

    /// How long notifying the server of the end may last.
    private static let farewell = Interval.seconds(3)
    /// The time until a server that isn't listening is asked again, in milliseconds. It is random, because many clients
    /// may have lost one server.
    private static let pause: ClosedRange<Int64> = 500...1000

    private let context = CancellableContext()
    private let thread: NamedThread

    /// Begins to offer a session; nil if the process has no thread left.
    ///
    /// - Parameters:
    ///   - timeout: for how long a server that isn't listening is asked again: it may just be starting again.
    ///   - report: called on the attempt's thread, and not any more after ``abandon()``.
    public init?(
        _ server: WebRTCServer, offer: String, timeout: Interval = .zero, report: @escaping @Sendable (Event) -> Void
    ) {
        let context = context
        let thread = NamedThread("push", blocksSignals: true) {
            context.main.use {
                Self.run(server, offer: offer, timeout, context) { if !context.isAbandoned { report($0) } }
            }
        }
        guard let thread else { return nil }
        self.thread = thread
    }

    deinit { abandon() }

    /// Ends the session as the server's protocol requires.
    public func close() { context.close() }

    /// Ends the session, which isn't waited for any more.
    public func abandon() { context.abandon() }

    /// Waits until the server knows of the end, but no longer than until `deadline`. Only the first call waits.
    public func join(until deadline: MonotonicTime) { thread.join(until: deadline) }

    private static func run(
        _ server: WebRTCServer, offer: String, _ timeout: Interval, _ context: CancellableContext,
        report: (Event) -> Void
    ) {
        var service = server.makeService(context)
        let end: Event
        do throws(OutputError) {
            let answer = try publish(offer, by: &service, timeout, context)
            if let named = service.named { report(.named(named)) }
            report(.answered(answer))
            try service.stay()
            end = .closed
        } catch {
            end = .failed(error)
        }
        context.beginFarewell(within: farewell)
        service.end()
        report(end)
    }

    /// Offers the session, and again while the server isn't listening, until `timeout` is over.
    private static func publish(
        _ offer: String, by service: inout any PublishingService, _ timeout: Interval, _ context: CancellableContext
    ) throws(OutputError) -> String {
        let end = MonotonicTime.now() + timeout
        while true {
            do throws(OutputError) {
                return try service.publish(offer)
            } catch {
                let next = MonotonicTime.now() + .milliseconds(.random(in: pause))
                guard error.foundNobody, next < end else { throw error }
                context.run(until: next) { context.isOver }
                if context.isOver { throw error }
            }
        }
    }
}

/// The exchange with a server about one session. Belongs to the attempt's thread, on which it waits.
protocol PublishingService {
    /// The TURN servers that the server has named with its answer; nil if its protocol has no place for them.
    var named: NamedServers? { get }
    /// Offers the session, and returns the server's answer.
    mutating func publish(_ offer: String) throws(OutputError) -> String
    /// Keeps the session until the attempt is over. Throws if the server ends it.
    mutating func stay() throws(OutputError)
    /// Tells the server that the session is over, in whatever state it is.
    mutating func end()
}

extension PublishingService {
    var named: NamedServers? { nil }
}

extension WebRTCServer {
    fileprivate func makeService(_ context: CancellableContext) -> any PublishingService {
        switch service {
        case .whip: WHIPService(url, token: token, context)
        case .whep(let password): WHIPService(url, token: token, password: password, isViewing: true, context)
        case .janus(let room): JanusService(url, room, token: token, context)
        }
    }
}
