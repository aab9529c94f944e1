/// Who a peer is.
public struct Hello: Hashable, Sendable {
    /// The version of the protocol that this code speaks.
    public static let currentVersion: UInt16 = 1

    /// Which end of the link a peer is.
    public enum Role: UInt8, Sendable, CaseIterable {
        /// Sends live pictures.
        case capture = 1
        /// Receives them.
        case host = 2
        /// Plays a recording, whose capture times are not on this machine's clock.
        case replay = 3
    }

    /// Which end of the link the peer is.
    public var role: Role
    /// The version of the protocol that the peer speaks.
    public var version: UInt16
    /// The peer's program and version, for people; at most 256 bytes of UTF-8 are sent.
    public var name: String
    /// The peer's process ID, or 0.
    public var processID: UInt32
    /// Whether the peer makes a key frame when asked.
    public var makesKeyFrames: Bool
    /// Whether the peer can report where the pointer is, instead of drawing it.
    public var tellsPointer: Bool
    /// Whether the peer can switch between 4:4:4 and 4:2:0.
    public var changesChroma: Bool

    /// Creates a hello with these fields.
    public init(
        role: Role, name: String, processID: UInt32, makesKeyFrames: Bool, tellsPointer: Bool = false,
        changesChroma: Bool = false, version: UInt16 = Hello.currentVersion
    ) {
        self.role = role
        self.version = version
        self.name = name
        self.processID = processID
        self.makesKeyFrames = makesKeyFrames
        self.tellsPointer = tellsPointer
        self.changesChroma = changesChroma
    }
}
