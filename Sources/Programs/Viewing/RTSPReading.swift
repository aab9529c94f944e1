import Clocks
import CommandLine
import MediaFiles
import MediaTypes
import Opus
import RoomConnections
import Threading
import VideoDecoding

/// Reads a stream over RTSP, on a thread of its own.
final class RTSPReading: ViewConnection {
    let inbox: Mailbox<ViewEvent>
    private let connection = MediaConnection()
    private let thread: NamedThread

    /// How long the server may take to answer the request that ends the session.
    private static let farewell = Interval.seconds(2)

    /// Begins to connect. Throws if the system has no thread or descriptor left.
    init(_ url: String) throws(ViewEnd) {
        guard let inbox = Mailbox<ViewEvent>() else { throw .noResources }
        let connection = connection
        let started = NamedThread("rtsp", blocksSignals: true) {
            inbox.post(.ended(Self.read(url, connection, into: inbox)))
        }
        guard let thread = started else { throw .noResources }
        self.inbox = inbox
        self.thread = thread
    }

    deinit { connection.abandon() }

    private static func read(_ url: String, _ connection: MediaConnection, into inbox: Mailbox<ViewEvent>) -> ViewEnd {
        do throws(MediaFileError) {
            let reader = try MediaReader(address: url, connection: connection)
            if let other = reader.otherCodec {
                let traits = other.traits.isEmpty ? "" : " \(other.traits.joined(separator: ", "))"
                return ViewEnd("the stream is \(other.name)\(traits), which can't be viewed", .badData, mayPass: false)
            }
            inbox.post(.connected)
            while let piece = try reader.next() {
                switch piece.content {
                case .frame(let frame):
                    inbox.post(ReceivedFrame(coded: frame.withoutCaptureTime, codec: .h264, arrival: .now()))
                case .sound(let packet) where reader.sound?.codec == "opus":
                    guard let frame = CodedFrame(opus: packet.bytes, captureTime: nil) else { continue }
                    inbox.post(ReceivedFrame(coded: frame, codec: .opus, arrival: .now()))
                case .packet, .sound: continue
                }
            }
            return ViewEnd("the stream has ended")
        } catch {
            // Only the text of libavformat's error distinguishes a refusal from other answers.
            let isRefused = ["401", "403"].contains { "\(error)".contains(" \($0) ") }
            return ViewEnd(
                "the stream can't be read: \(error)", isRefused ? .permission : .unavailable, mayPass: !isRefused)
        }
    }

    func requestKeyFrame() {}

    func abandon() { connection.abandon() }

    func close() {
        connection.abandon()
        thread.join(until: .now() + Self.farewell)
    }
}
