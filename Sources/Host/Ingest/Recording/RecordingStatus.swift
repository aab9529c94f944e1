public import RecordingFiles

/// The progress of a recording.
public struct RecordingStatus: Sendable, Equatable {
    /// The file's path.
    public let path: String
    /// What is in the file, and what is missing from it.
    public let counters: RecordingQueue.Counters
    /// Why it has stopped by itself; nil while it goes on.
    public let failure: RecordingFileError?

    /// The status for people, on a line of at most about 300 bytes; only the end of a long path is shown.
    public var text: String {
        let missing = counters.missingMessages == 0 ? "" : ", \(counters.missingMessages) more are missing"
        let stopped = failure.map { "; it has stopped: \($0.cause)" } ?? ""
        let done = "\(counters.messages) messages, \(counters.fileBytes) bytes"
        return "recording to '\(shortPath)': \(done)\(missing)\(stopped)"
    }

    private var shortPath: String {
        let limit = 80
        if path.utf8.count <= limit { return path }
        // Begin at the first byte of a character.
        return "..." + String(decoding: path.utf8.suffix(limit).drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
    }
}
