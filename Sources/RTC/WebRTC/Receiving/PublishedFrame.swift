public import MediaTypes

/// A complete frame from a publisher, or from a server whose viewer we are.
public struct PublishedFrame: Sendable {
    /// Its codec.
    public let codec: TrackFormat.Codec
    /// The codec's units in order, each after `00 00 00 01` as in a `CodedFrame`; none is empty.
    public let units: [[UInt8]]
    /// Whether decoding can begin with it.
    public let isRandomAccess: Bool
    /// Whether it has a part of a picture, or sound; otherwise it holds only parameters.
    public let hasMedia: Bool
    /// The capture time on this machine's clock, derived from the packets' timestamps and the minimum delay.
    public let captureTime: MonotonicTime
    /// The time at which its last packet arrived.
    public let arrival: MonotonicTime

    /// The number of packets of its stream that were given up as lost so far.
    public internal(set) var lostPackets = 0

    /// The total size of its units in bytes.
    public var byteCount: Int { units.reduce(0) { $0 + $1.count } }
}

/// The receiver of a publisher's frames. Called on the media thread; must not block.
public protocol PublishedFrameReceiver: AnyObject, Sendable {
    /// Receives the publisher's next frame, which is never incomplete. If a frame was lost, those that depend on it
    /// are left out until the next key frame, or for two seconds.
    func receive(_ frame: PublishedFrame)
    /// Called if the publisher was asked for a key frame and has sent frames for two seconds without sending one.
    func keyFrameRequestsIgnored()
}
