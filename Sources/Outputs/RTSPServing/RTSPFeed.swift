import MediaTypes
import Pulling
import ScreenRelayKit
import Synchronization
import Threading

/// Passes what a client publishes from the server's thread to the publisher's, which feeds the track.
final class RTSPFeed: Sendable {
    /// What the client has sent, with times on its own clock.
    enum Item: Sendable {
        case picture(CodedFrame, shown: Interval)
        case sound([UInt8], heard: Interval, until: Interval)

        /// What it takes in memory besides its media, roughly: a client may send packets of one byte.
        private static let overhead = 128

        fileprivate var byteCount: Int {
            switch self {
            case .picture(let frame, _): frame.bytes.count + Self.overhead
            case .sound(let bytes, _, _): bytes.count + Self.overhead
            }
        }
    }

    /// While more bytes wait for the publisher's thread, nothing is added.
    private static let maxWaiting = 16 << 20

    private let inbox: Mailbox<Item>
    private let waiting = Atomic<Int>(0)
    /// Why it ends.
    private let ending = Mutex<String?>(nil)

    /// A feed without items. Nil if the process has no descriptor left.
    init?() {
        guard let inbox = Mailbox<Item>() else { return nil }
        self.inbox = inbox
    }

    // MARK: The server's thread

    /// Passes on an item. Returns false if too much waits; it is dropped then.
    func post(_ item: Item) -> Bool {
        guard waiting.load(ordering: .relaxed) + item.byteCount <= Self.maxWaiting else { return false }
        waiting.wrappingAdd(item.byteCount, ordering: .relaxed)
        return inbox.post(item)
    }

    /// Begins to end, after the items that wait: the track's viewers are told this reason.
    func end(because reason: String) {
        ending.withLock { $0 = reason }
        inbox.wake.signal()
    }

    // MARK: The publisher's thread

    /// Feeds the publisher's track until the end. A publisher whose stream can't be published is asked to end.
    ///
    /// - Parameters:
    ///   - name: what lines of the log begin with.
    ///   - sound: the description of the sound; nil for none.
    func run(_ publisher: ServedPublisher, sound: AudioDescription?, name: String, log: EventLog) {
        var relay = PublisherRelay(name, over: .rtsp, into: publisher.track, log: log)
        var refusal = sound.flatMap { relay.prepare(sound: $0) }
        if let refusal { publisher.end(because: refusal.description) }
        while true {
            // What came before the end is still passed on.
            let reason = ending.withLock { $0 }
            for item in inbox.take() {
                waiting.wrappingSubtract(item.byteCount, ordering: .relaxed)
                guard refusal == nil else { continue }
                switch item {
                case .picture(let frame, let shown): refusal = relay.take(picture: frame, decoded: nil, shown: shown)
                case .sound(let bytes, let heard, let end): relay.take(sound: bytes, heard: heard, until: end)
                }
                if let refusal { publisher.end(because: refusal.description) }
            }
            if let reason { return relay.end(reason: reason) }
            inbox.wake.wait()
        }
    }
}
