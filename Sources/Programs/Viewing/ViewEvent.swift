public import CommandLine
import MediaTypes
import RoomConnections
import Threading

/// An event of a connection, in the order of arrival.
enum ViewEvent: Sendable {
    /// The connection is there, or the file is open.
    case connected
    /// The packets take this path, from here on.
    case path(ConnectionPath)
    case frame(ReceivedFrame)
    /// Frames are missing here: nothing can be decoded until the next key frame.
    case gap
    /// Nothing follows.
    case ended(ViewEnd)

    /// The frame, if it is one.
    var frame: ReceivedFrame? { if case .frame(let frame) = self { frame } else { nil } }
}

/// Why viewing, or one of its connections, has ended.
public struct ViewEnd: Error, Sendable {
    /// One line for people, without secrets; nil if nothing went wrong.
    public let reason: String?
    /// The program's exit code.
    public let exitCode: ExitCode
    /// Whether another attempt may succeed.
    let mayPass: Bool

    init(_ reason: String, _ exitCode: ExitCode = .unavailable, mayPass: Bool = true) {
        self.reason = reason
        self.exitCode = exitCode
        self.mayPass = mayPass
    }

    private init() {
        reason = nil
        exitCode = .success
        mayPass = false
    }

    /// Viewing has ended as requested.
    static let done = ViewEnd()
    /// The system has no thread or descriptor left.
    static let noResources = ViewEnd("the system has no thread or descriptor left", .system, mayPass: false)
}

/// A connection to a server, or the reading of a file.
protocol ViewConnection: AnyObject {
    /// The events that have arrived.
    var inbox: Mailbox<ViewEvent> { get }
    /// Asks the sender for a key frame, if it can be asked.
    func requestKeyFrame()
    /// Ends it without waiting.
    func abandon()
    /// Ends it as its protocol requires, which takes a few seconds at most.
    func close()
}

extension Mailbox where Item == ViewEvent {
    /// How many events may wait: a few seconds of pictures.
    private static var limit: Int { 256 }
    /// How many bytes their frames may have.
    private static var byteLimit: Int { 32 << 20 }

    /// Adds a frame. If the decoder is too slow, the waiting frames are dropped.
    func post(_ frame: ReceivedFrame) {
        post(.frame(frame)) { waiting in
            let byteCount = waiting.reduce(0) { $0 + ($1.frame?.coded.bytes.count ?? 0) }
            guard waiting.count >= Self.limit || byteCount > Self.byteLimit else { return }
            waiting.removeAll { event in
                switch event {
                case .frame, .gap: true
                case .connected, .path, .ended: false
                }
            }
            waiting.append(.gap)
        }
    }
}
