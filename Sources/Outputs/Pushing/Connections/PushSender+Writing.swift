import Clocks
import MediaFiles
import MediaTypes
import OutputLife
import Synchronization
import Threading
import TrackHub

/// What the push's thread writes once it is connected.
extension PushSender {
    mutating func writeAll(to stream: inout PushStream) throws(MediaFileError) {
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
                exchange.progress.withLock { $0.lacksPictures = true }
            case .frame(let frame) where stream.needsAnotherFile(for: frame):
                exchange.progress.withLock { $0.hasEndedFile = true }
                return
            case .frame(let frame): try write(frame, to: &stream)
            }
        }
    }

    /// Waits for the longest that an SRT receiver usually keeps what has arrived: it throws that away when the
    /// connection ends.
    func linger() {
        let end = MonotonicTime.now() + .milliseconds(500)
        while !exchange.connection.isAbandoned, MonotonicTime.now() < end { exchange.wake.wait(until: end) }
    }

    func write(_ picture: TrackFrame, to stream: inout PushStream) throws(MediaFileError) {
        exchange.connection.allow(until: MonotonicTime.now() + exchange.settings.sendTimeout)
        try stream.write(picture)
        exchange.progress.withLock { $0.meter.sentFrame(isPicture: true, byteCount: picture.coded.bytes.count) }
    }

    private func write(_ packets: [PushAudio.Packet], to stream: inout PushStream) throws(MediaFileError) {
        for packet in packets {
            exchange.connection.allow(until: MonotonicTime.now() + exchange.settings.sendTimeout)
            try stream.write(packet)
            exchange.progress.withLock { $0.meter.sentFrame(isPicture: false, byteCount: packet.bytes.count) }
        }
    }
}
