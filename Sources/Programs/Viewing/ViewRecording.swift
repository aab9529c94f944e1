import Ingest
import MediaTypes
import RoomConnections

/// Records the received frames as a host records a publisher: for `screenrelay replay`, `inspect` and `export`.
struct ViewRecording {
    private let recorder: LinkRecorder
    private var pictures: PublicationRecording
    private var sound: PublicationAudioRecording?

    /// Begins a connection in the recording.
    init(_ recorder: LinkRecorder, at time: MonotonicTime) {
        self.recorder = recorder
        pictures = PublicationRecording(recorder, epoch: UInt64.random(in: 1 ... .max), at: time)
    }

    mutating func record(_ frame: ReceivedFrame) {
        switch frame.codec.kind {
        case .video: pictures.record(frame.coded, at: frame.arrival)
        case .audio:
            let recording =
                sound
                ?? PublicationAudioRecording(
                    recorder, codec: frame.codec, epoch: UInt64.random(in: 1 ... .max), at: frame.arrival)
            sound = recording
            recording.record(frame.coded, at: frame.arrival)
        }
    }
}
