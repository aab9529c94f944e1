public import RecordingFiles

/// How far a recording is.
public struct RecordingStatus: Sendable, Equatable {
    /// Where it is.
    public let path: String
    /// What is in it, and what is missing.
    public let counters: RecordingQueue.Counters
    /// Why it has stopped by itself; nil while it goes on.
    public let failure: RecordingFileError?

    /// For people, in a line of at most some 300 bytes: of a long path its end.
    public var words: String {
        let missing = counters.gaps == 0 ? "" : ", \(counters.missingMessages) more are missing"
        let stopped = failure.map { "; it has stopped: \($0.cause)" } ?? ""
        let done = "\(counters.messages) messages, \(counters.fileBytes) bytes"
        return "recording to '\(shortPath)': \(done)\(missing)\(stopped)"
    }

    private var shortPath: String {
        let limit = 80
        if path.utf8.count <= limit { return path }
        // Cut where a character begins.
        return "..." + String(decoding: path.utf8.suffix(limit).drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
    }
}
