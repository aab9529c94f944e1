import Clocks
import MediaFiles
import MediaTypes
import OutputLife
import Synchronization
import Threading
import TrackHub

/// What a connection's thread writes once it is connected.
extension PushConnection {
    func writeAll(to stream: inout PushStream) throws(MediaFileError) {
        while true {
            switch next(silenceDue: stream.soundDue) {
            case .end: return
            case .silence(let until):
                let packets = try stream.silence(until: until)
                try write(packets, to: &stream)
            case .frame(let frame) where frame.format.kind == .audio:
                let packets = try stream.packets(of: frame)
                try write(packets, to: &stream)
            case .frame where !stream.hasPictures:
                // Only another connection can send them.
                shared.withLock { $0.lacksPictures = true }
            case .frame(let frame) where stream.needsAnotherFile(for: frame):
                shared.withLock { $0.hasEndedFile = true }
                return
            case .frame(let frame): try write(frame, to: &stream)
            }
        }
    }

    /// Waits for the longest that an SRT receiver usually keeps what has arrived: it throws that away when the
    /// connection ends.
    func linger() {
        let end = MonotonicTime.now() + .milliseconds(500)
        while !connection.isAbandoned, MonotonicTime.now() < end { wake.wait(until: end) }
    }

    func write(_ picture: TrackFrame, to stream: inout PushStream) throws(MediaFileError) {
        connection.allow(until: MonotonicTime.now() + settings.sendTimeout)
        try stream.write(picture)
        shared.withLock { $0.meter.sentFrame(isPicture: true, byteCount: picture.coded.bytes.count) }
    }

    private func write(_ packets: [PushAudio.Packet], to stream: inout PushStream) throws(MediaFileError) {
        for packet in packets {
            connection.allow(until: MonotonicTime.now() + settings.sendTimeout)
            try stream.write(packet)
            shared.withLock { $0.meter.sentFrame(isPicture: false, byteCount: packet.bytes.count) }
        }
    }
}
