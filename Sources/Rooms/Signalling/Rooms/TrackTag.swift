/// A tag that the sharer or an application gives a track beside its name: a short text for people, and a small JSON
/// value for programs. Viewers and `GET /api/rooms` see it.
public struct TrackTag: Hashable, Sendable {
    /// The text, in one line; nil if there is none.
    public let text: String?
    /// The value; nil if there is none.
    public let data: JSONValue?

    /// The longest text, in characters.
    public static let maxText = 200
    /// The longest value, in bytes as it is sent.
    public static let maxData = 1024

    /// An empty tag.
    public init() { (text, data) = (nil, nil) }

    /// - Throws: ``TrackTagError`` if the text or the value is too long, or the text has a control character.
    public init(text: String? = nil, data: JSONValue? = nil) throws(TrackTagError) {
        if let text {
            guard text.count <= Self.maxText, text.utf8.count <= Self.maxText * 4 else { throw .longText }
            guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
                throw .controlCharacter
            }
        }
        if let data, data.jsonLine.utf8.count > Self.maxData { throw .longData }
        self.text = text
        self.data = data
    }
}

/// Why something can't be a track's tag.
public enum TrackTagError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is longer than ``TrackTag/maxText``.
    case longText
    /// The text has a control character, such as a line feed.
    case controlCharacter
    /// The value is longer than ``TrackTag/maxData``.
    case longData

    public var description: String {
        switch self {
        case .longText: "the text has more than \(TrackTag.maxText) characters"
        case .controlCharacter: "the text has a control character"
        case .longData: "the JSON has more than \(TrackTag.maxData) bytes"
        }
    }
}
