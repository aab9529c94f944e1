import MediaTypes
import RTP

extension TrackSender {
    /// The session's position in the track.
    ///
    /// | from | to | when |
    /// | --- | --- | --- |
    /// | waiting | the first packet of a key frame | the viewer decodes it, and not too much has followed it |
    /// | at a packet | the same packet | the path, the socket, the pointer or the samples hold it back |
    /// | at a packet | the first packet of the next frame | all packets of the frame are sent |
    /// | at a packet | waiting | the frame is gone, its format isn't the viewer's, or the viewer sends a PLI |
    enum Position {
        /// Waiting for a key frame, last requested at that time.
        case waiting(askedAt: MonotonicTime?)
        /// Sends `packet` of `frame` next; `time` is the frame's presentation time, set once its first packet is sent.
        case at(frame: FrameNumber, packet: Int, time: MediaTime?)

        /// The frame of which something is sent next; nil while it waits for a key frame.
        var frame: FrameNumber? {
            if case .at(let number, _, _) = self { number } else { nil }
        }
    }
}
