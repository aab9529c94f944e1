public import MediaTypes

/// The kinds of source that a screen cast may show: `AvailableSourceTypes` of org.freedesktop.portal.ScreenCast. With
/// several of them, the user chooses.
public struct PortalSourceTypes: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A monitor.
    public static let monitor = PortalSourceTypes(rawValue: 1)
    /// A window.
    public static let window = PortalSourceTypes(rawValue: 2)
    /// A monitor that the desktop makes for the screen cast.
    public static let virtual = PortalSourceTypes(rawValue: 4)

    /// Those that are known, each with the portal's word for it and ours.
    private static let known: [(type: PortalSourceTypes, name: String, words: String)] = [
        (.monitor, "monitor", "monitor"), (.window, "window", "window"), (.virtual, "virtual", "new monitor"),
    ]

    /// The portal's names of those that are known, such as "monitor" or "virtual".
    var names: [String] { Self.known.filter { contains($0.type) }.map(\.name) }

    public var description: String {
        let words = Self.known.filter { contains($0.type) }.map(\.words)
        return words.isEmpty ? "none" : words.joined(separator: ", ")
    }
}

/// How the pictures of a screen cast show the pointer: `AvailableCursorModes` of org.freedesktop.portal.ScreenCast.
public enum PortalCursorMode: UInt32, Sendable {
    /// Not at all.
    case hidden = 1
    /// It is drawn into the pictures.
    case embedded = 2
    /// Its place and shape come as metadata of the pictures.
    case metadata = 4

    /// The best of the modes in a bit mask; nil if it has none that is known. Metadata isn't as good as others if it
    /// `isLast`.
    static func best(of available: UInt32, metadataIsLast isLast: Bool = false) -> PortalCursorMode? {
        let modes: [Self] = isLast ? [.embedded, .hidden, .metadata] : [.metadata, .embedded, .hidden]
        return modes.first { available & $0.rawValue != 0 }
    }
}

/// A stream of a screen cast, as the answer of `Start` describes it.
public struct PortalStream: Equatable, Sendable {
    /// The identifier of its PipeWire node, for the session's remote only.
    public var node: UInt32
    /// The size in the desktop's coordinates, of which several pixels may be one; nil if the desktop doesn't tell it.
    public var size: PictureSize?
    /// The place of the top left corner in the desktop's coordinates; nil for a window.
    public var position: Position?
    /// What it shows; nil if the desktop doesn't tell it.
    public var sourceType: PortalSourceTypes?
    /// What names the same source elsewhere, for example for input; nil if the desktop doesn't tell it.
    public var mappingID: String?

    /// A place in the desktop's coordinates.
    public struct Position: Equatable, Sendable {
        /// To the right of the origin.
        public var x: Int
        /// Below the origin.
        public var y: Int
    }
}
