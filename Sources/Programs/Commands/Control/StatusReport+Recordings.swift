import ByteCoding
import Ingest
import RecordingFiles

/// What the status says of the tracks' recordings.
extension StatusReport {
    /// The recordings of the first tracks, in words.
    var recordingParts: [String?] {
        tracks.prefix(4).enumerated().map { index, track in
            track.recording.map { index == 0 ? $0.text : "track \(place(of: track)) \($0.text)" }
        }
    }

    /// A recording for programs.
    func jsonObject(of recording: RecordingStatus) -> JSONObject {
        JSONObject {
            $0.add("path", beginning(of: recording.path))
            $0.add("messages", recording.counters.messages)
            $0.add("bytes", recording.counters.fileBytes)
            $0.add("missingMessages", recording.counters.missingMessages)
            $0.add("stopped", recording.failure?.cause)
        }
    }
}
