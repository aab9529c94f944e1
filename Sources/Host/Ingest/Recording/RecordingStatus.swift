public import RecordingFiles

/// The progress of a recording.
public struct RecordingStatus: Sendable, Equatable {
    /// The file's path.
    public let path: String
    /// What is in the file, and what is missing from it.
    public let counters: RecordingQueue.Counters
    /// Why it has stopped by itself; nil while it goes on.
    public let failure: RecordingFileError?
}
