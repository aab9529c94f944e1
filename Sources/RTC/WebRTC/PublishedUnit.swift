public import MediaTypes

/// A complete access unit from a publisher.
public struct PublishedUnit: Sendable {
    /// Its NAL units in order, without start codes; none is empty.
    public let nalUnits: [[UInt8]]
    /// The capture time on this machine's clock, derived from the packets' timestamps and the minimum delay.
    public let captureTime: MonotonicTime
    /// The time at which its last packet arrived.
    public let arrival: MonotonicTime

    /// Creates an access unit with these NAL units.
    public init(nalUnits: [[UInt8]], captureTime: MonotonicTime, arrival: MonotonicTime) {
        self.nalUnits = nalUnits
        self.captureTime = captureTime
        self.arrival = arrival
    }

    /// Whether it has slices of an IDR picture.
    public var isIDR: Bool { nalUnits.contains { ($0.first ?? 0) & 0x1F == 5 } }
    /// Whether it has slices of any picture; otherwise it holds parameter sets and the like.
    public var isPicture: Bool { nalUnits.contains { (1...5).contains(($0.first ?? 0) & 0x1F) } }
    /// The total size of its NAL units in bytes.
    public var byteCount: Int { nalUnits.reduce(0) { $0 + $1.count } }
}

/// The receiver of a publisher's access units. Called on the media thread; must not block.
public protocol PublishedUnitReceiver: AnyObject, Sendable {
    /// Receives the publisher's next access unit, which is never incomplete. If one was lost, those that depend on it
    /// are left out until the next IDR, or for two seconds.
    func receive(_ unit: PublishedUnit)
    /// Called if the publisher was asked for an IDR and has sent pictures for two seconds without sending one.
    func keyFrameRequestsIgnored()
}
