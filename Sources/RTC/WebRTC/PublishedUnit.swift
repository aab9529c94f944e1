public import MediaTypes

/// One access unit that a publisher has sent, whole.
public struct PublishedUnit: Sendable {
    /// Its NAL units in order, without start codes; none is empty.
    public let nalUnits: [[UInt8]]
    /// When it was taken, on this machine's clock: by the packets' time stamps and the quickest way here.
    public let captureTime: MonotonicTime
    /// When its last packet came.
    public let arrival: MonotonicTime

    /// A unit of these NAL units.
    public init(nalUnits: [[UInt8]], captureTime: MonotonicTime, arrival: MonotonicTime) {
        self.nalUnits = nalUnits
        self.captureTime = captureTime
        self.arrival = arrival
    }

    /// Whether it has slices of an IDR picture.
    public var isIDR: Bool { nalUnits.contains { ($0.first ?? 0) & 0x1F == 5 } }
    /// Whether it has slices of any picture; else it is parameter sets and the like.
    public var isPicture: Bool { nalUnits.contains { (1...5).contains(($0.first ?? 0) & 0x1F) } }
    /// The bytes of all its NAL units.
    public var byteCount: Int { nalUnits.reduce(0) { $0 + $1.count } }
}

/// Who takes what a publisher sends. Called on the media thread: must not block.
public protocol PublishedUnitReceiver: AnyObject, Sendable {
    /// Takes the publisher's next access unit. None is incomplete; where one was lost, those that need it are left out up to the
    /// next IDR, or for two seconds.
    func receive(_ unit: PublishedUnit)
    /// The publisher was asked for an IDR and has sent pictures for two seconds, none of them one.
    func keyFrameRequestsIgnored()
}
