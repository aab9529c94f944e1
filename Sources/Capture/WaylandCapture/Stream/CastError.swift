public import CaptureEngine
public import CaptureLink
import Glibc
public import LinkTransport
public import MediaTypes

/// The reason why a PipeWire node can't be captured, or can't be captured any longer.
public enum CastError: ScreenError, Equatable {
    /// A call of libpipewire failed; `code` is an errno.
    case library(call: String, code: Int32)
    /// The remote isn't a connection to PipeWire; `code` is an errno.
    case remote(code: Int32)
    /// PipeWire reports this error of the stream.
    case stream(String)
    /// The stream's node has none of the formats that can be read.
    case noFormat
    /// The stream has ended, because its node was removed.
    case ended
    /// The stream has ended, because the monitor that it showed was removed or has changed.
    case monitorChanged
    /// PipeWire has ended the connection, because it was stopped; with the reason that libpipewire reports.
    case disconnected(String)
    /// The pictures are in a format that can't be read.
    case format(String)
    /// No picture arrived; `reason` is what was wrong with those that can't be used, or the stream's state.
    case noPicture(node: UInt32, reason: String)
    /// No picture arrived, although the sender reports the pointer.
    case onlyPointer(node: UInt32)
    /// There isn't enough memory for a picture of this size.
    case noMemory(PictureSize)

    public var description: String {
        switch self {
        case .library(let call, let code): "\(call) of libpipewire failed: \(String(cString: strerror(code)))"
        case .remote(let code): "the desktop's connection to PipeWire can't be used: \(String(cString: strerror(code)))"
        case .stream(let text): "PipeWire reports an error: \(text)"
        case .noFormat: "the desktop offers no pictures in main memory with 8 bits per channel"
        case .ended: "the desktop has ended the screen cast"
        case .monitorChanged: "the desktop has ended the screen cast, because its monitors have changed"
        case .disconnected(let text): "PipeWire has ended: \(text)"
        case .format(let text): "the desktop sends \(text)"
        case .noPicture(let node, let reason): "PipeWire node \(node) sends no picture: \(reason)"
        case .onlyPointer(let node): "PipeWire node \(node) sends only the pointer, and no picture"
        case .noMemory(let size): "there is not enough memory for a picture of \(size)"
        }
    }

    /// An error of the stream that PipeWire reports with this text.
    init(text: String) {
        // "no more input formats": WirePlumber 0.5 passes it on, and 0.4 ends the stream without a reason.
        self = text.hasPrefix("no more ") && text.hasSuffix(" formats") ? .noFormat : .stream(text)
    }

    /// Whether it makes no sense to connect the stream again.
    var isFinal: Bool {
        switch self {
        case .stream, .noFormat, .ended, .noPicture: false
        case .library, .remote, .monitorChanged, .disconnected, .format, .onlyPointer, .noMemory: true
        }
    }

    /// Whether the reason may be that the desktop has stopped sharing.
    var mayBeWanted: Bool {
        switch self {
        case .ended, .stream, .noFormat: true
        case .library, .remote, .monitorChanged, .disconnected, .format, .noPicture, .onlyPointer, .noMemory: false
        }
    }

    public var kind: SocketError.Kind {
        switch self {
        case .library, .noMemory: .system
        case .remote, .stream, .noFormat, .ended, .monitorChanged, .disconnected, .format, .noPicture, .onlyPointer:
            .unavailable
        }
    }

    public var endReason: EndReason {
        switch self {
        case .ended, .monitorChanged, .disconnected, .stream, .noFormat: .displayLost
        case .library, .remote, .format, .noPicture, .onlyPointer, .noMemory: .other
        }
    }
}
