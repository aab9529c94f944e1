/// The limits of what a client may send. Each length is compared with its limit before memory is reserved.
enum RTMPLimits {
    /// The largest message with video, in bytes.
    static let video = 8 << 20
    /// The largest message with audio, in bytes. A frame of AAC has at most 8 KiB.
    static let audio = 64 << 10
    /// The largest message of any other type, in bytes. Commands of known clients have less than 1 KiB.
    static let command = 16 << 10
    /// The most bytes of a publisher's unfinished messages. A client that doesn't publish yet may have those of a
    /// command.
    static let unfinished = video + audio + command
    /// The most chunk streams. Known clients use at most six.
    static let chunkStreams = 16
    /// The longest text in a command, in bytes of UTF-8.
    static let text = 4 << 10
    /// The most NAL units of a picture.
    static let nalUnits = 1024
    /// How deep objects and arrays may be nested.
    static let depth = 8
    /// The longest application or stream key, in bytes of UTF-8.
    static let name = 1 << 10
    /// The longest name of an encoder that is kept, in characters.
    static let encoder = 64
}
