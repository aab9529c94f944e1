/// What the capture has done and used since its epoch began. The counts only grow.
public struct CaptureStatistics: Hashable, Sendable, Codable {
    /// Pictures encoded.
    public var pictures: UInt64 = 0
    /// Key frames among them.
    public var idrPictures: UInt64 = 0
    /// Bytes written to the link, headers included.
    public var bytes: UInt64 = 0
    /// Damage events of the X server.
    public var damageEvents: UInt64 = 0
    /// How many times a picture waited because the previous one was not yet written.
    public var heldBack: UInt64 = 0
    /// Nanoseconds spent in grabbing.
    public var grabNanoseconds: UInt64 = 0
    /// Nanoseconds spent in converting colours.
    public var convertNanoseconds: UInt64 = 0
    /// Nanoseconds spent in encoding.
    public var encodeNanoseconds: UInt64 = 0
    /// Memory in use now (resident), in bytes.
    public var residentBytes: UInt64 = 0
    /// What the capture has done and used since the previous statistics; nil from senders of an earlier version.
    public var recent: RecentStatistics?

    /// Creates statistics with nothing done yet.
    public init() {}
}

/// What the capture has done and used since the previous statistics.
public struct RecentStatistics: Hashable, Sendable, Codable {
    /// Nanoseconds since then.
    public var duration: UInt64 = 0
    /// Pictures encoded.
    public var pictures: UInt64 = 0
    /// Bytes written to the link, headers included.
    public var bytes: UInt64 = 0
    /// Nanoseconds of CPU time, of all threads.
    public var processorNanoseconds: UInt64 = 0
    /// The median time to encode a picture, in nanoseconds.
    public var encodeMedianNanoseconds: UInt64 = 0
    /// The 95th percentile of the time to encode a picture, in nanoseconds.
    public var encodeP95Nanoseconds: UInt64 = 0
    /// How much of the picture changed, in millionths: the mean over the pictures that showed a change.
    public var damagedMillionths: UInt64 = 0

    /// Creates statistics with nothing done.
    public init() {}

    private enum CodingKeys: String, CodingKey {
        case duration = "nanoseconds"
        case pictures, bytes, processorNanoseconds, encodeMedianNanoseconds, encodeP95Nanoseconds, damagedMillionths
    }
}
