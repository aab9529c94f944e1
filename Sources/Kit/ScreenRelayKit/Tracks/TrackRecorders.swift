import Clocks
import FoundationEssentials
import Ingest
import MediaTypes
import RecordingFiles
import Synchronization
import Threading

/// Makes the recorders of a host's tracks, and keeps those of removed tracks until their files are written.
///
/// Any thread may call any method.
final class TrackRecorders: Sendable {
    private let recording: HostRecording?
    /// The limit of all files together.
    private let budget: RecordingBudget?
    private let log: EventLog
    private let state = Mutex(State())

    private struct State {
        var names = RecordingNames()
        /// The recorders of removed tracks. Some of their files may not be written yet.
        var ending: [LinkRecorder] = []
    }

    /// Recorders as `recording` describes them; without it, no track has one.
    init(_ recording: HostRecording?, log: EventLog) {
        self.recording = recording
        budget = recording?.limit.map { RecordingBudget(limit: $0) }
        self.log = log
    }

    /// Creates the first track's file. Nil if nothing is recorded.
    func makeFirst() throws(HostError) -> LinkRecorder? {
        guard let recording else { return nil }
        do throws(RecordingFileError) {
            return try LinkRecorder(try RecordingFile(creating: recording.path, budget: budget), log: log)
        } catch {
            throw .recording(error)
        }
    }

    /// The recorder of a further track. Doesn't wait for the disk: a file that can't be created is logged. Nil if
    /// nothing is recorded, or if the process has no thread left.
    func make(for track: String, in room: String) -> LinkRecorder? {
        guard let recording else { return nil }
        let path = state.withLock { $0.names.path(of: track, in: room, beside: recording.path, at: Date()) }
        do throws(RecordingFileError) {
            return try LinkRecorder(creatingLater: path, budget: budget, log: log)
        } catch {
            log.error("--record: \(error); the track \(room)/\(track) is not recorded")
            return nil
        }
    }

    /// Has the rest of a removed track's file written, without waiting for that.
    func end(_ recorder: LinkRecorder) {
        recorder.finish()
        // Asked and released outside of the lock, since each has a lock of its own.
        let done = ending.filter(\.isOver)
        state.withLock { state in
            state.ending.removeAll { former in done.contains { $0 === former } }
            state.ending.append(recorder)
        }
    }

    /// The recorders of removed tracks that may not have reached their files yet.
    var ending: [LinkRecorder] { state.withLock { $0.ending } }

    /// Stops these recorders and those of removed tracks, and waits until all files are written, but no longer than
    /// `limit` for all of them. Idempotent.
    func close(_ recorders: [LinkRecorder], within limit: Interval = RecordingQueue.timeout) {
        let all = recorders + ending
        for recorder in all { recorder.finish() }
        let deadline = MonotonicTime.now() + limit
        for recorder in all { recorder.close(within: max(.zero, deadline - MonotonicTime.now())) }
    }
}

/// The names of the recordings of further tracks.
struct RecordingNames {
    /// The longest file name of Linux's file systems, in bytes.
    private static let limit = 255
    /// A longer extension is a part of the name.
    private static let extensionLimit = 16

    /// The time in the names that were made last, and those names.
    private var time = ""
    private var made: Set<String> = []

    /// A path beside `first` that this method hasn't returned before: `talk-ROOM-TRACK-20261128T210250Z.srr` for
    /// `talk.srr`, with the time in UTC. If that would be too long for a file system, the front of the name is cut off
    /// at its end.
    mutating func path(of track: String, in room: String, beside first: String, at date: Date) -> String {
        let slash = first.lastIndex(of: "/").map { first.index(after: $0) } ?? first.startIndex
        let folder = first[..<slash]
        var stem = first[slash...]
        var ending = ""
        if let dot = stem.lastIndex(of: "."), dot != stem.startIndex, stem[dot...].utf8.count <= Self.extensionLimit {
            ending = String(stem[dot...])
            stem = stem[..<dot]
        }
        let time = date.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted))
        if time != self.time { (self.time, made) = (time, []) }
        var number = 1
        while true {
            let rest = "-\(room)-\(track)-\(time)" + (number == 1 ? "" : "-\(number)") + ending
            while stem.utf8.count + rest.utf8.count > Self.limit, !stem.isEmpty { stem.removeLast() }
            let name = String(stem) + rest
            if made.insert(name).inserted { return String(folder) + name }
            number += 1
        }
    }
}
