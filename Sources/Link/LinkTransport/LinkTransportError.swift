import Glibc

/// Why a link could not be made, or why it ended.
public enum LinkTransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An address that can't be read; `reason` says what would be right.
    case invalidAddress(text: String, reason: String)
    /// A socket's path that doesn't fit into `sockaddr_un` (unix(7)): at most 107 bytes.
    case pathTooLong(path: String, bytes: Int)
    /// The folder that the socket should be in isn't there.
    case folderMissing(folder: String)
    /// A folder that we would use is not ours, or others may write in it.
    case folderNotSafe(folder: String, reason: String)
    /// Another process holds the lock on the socket's folder, and doesn't let go of it.
    case folderLocked(folder: String)
    /// A live process already accepts connections on this path.
    case alreadyListening(path: String)
    /// Nobody accepts connections on this path now; worth another try later.
    case notListening(path: String)
    /// Something else than a socket is at this path.
    case notASocket(path: String)
    /// The system doesn't let us use this path.
    case permissionDenied(path: String)
    /// Nobody answers at this TCP address now; `code` is the errno that says how.
    case unreachable(address: String, code: Int32)
    /// The name of a TCP address has no IP address that could be found.
    case nameUnknown(host: String, reason: String, isTemporary: Bool)
    /// Another program listens at this TCP address.
    case portTaken(address: String)
    /// No interface of this machine has this TCP address: nobody can listen there.
    case notOurAddress(address: String)
    /// An address that other machines can reach, or that is another machine's, and no token.
    case tokenRequired(address: String)
    /// A file that can't be a token's; `kind` says whether others may have read it or we may not (`permission`), whether it is
    /// not there (`missing`), or whether it is no token (`data`).
    case tokenFile(path: String, reason: String, kind: Kind)
    /// Host and capture don't have the same token; `text` says so.
    case tokenRefused(text: String)
    /// The process on the other end belongs neither to our user nor to root.
    case foreignPeer(peerUser: UInt32, ourUser: UInt32)
    /// A descriptor that we were handed is not open, or is no connected socket.
    case unusableDescriptor(number: Int32, reason: String)
    /// The peer reads too slowly: `pending` bytes wait already and `limit` is the most that may.
    case queueFull(pending: Int, limit: Int)
    /// The connection has ended; nothing more can be written.
    case closed
    /// A system call failed; `code` is its errno.
    case system(call: String, subject: String, code: Int32)

    /// What a program should do about it.
    public enum Kind: Sendable {
        /// The user wrote something that can't work (exit 64).
        case usage
        /// The other side isn't there, or went away; try again later (exit 69 where trying again makes no sense).
        case unavailable
        /// A file that is needed isn't there (exit 66).
        case missing
        /// A file has the wrong content (exit 65).
        case data
        /// Access is refused (exit 77).
        case permission
        /// The system failed (exit 71).
        case system
    }

    /// What a program should do about it.
    public var kind: Kind {
        switch self {
        case .invalidAddress, .pathTooLong, .unusableDescriptor, .notOurAddress, .tokenRequired: .usage
        case .nameUnknown(_, _, let isTemporary): isTemporary ? .unavailable : .usage
        case .tokenFile(_, _, let kind): kind
        case .folderMissing, .folderLocked, .alreadyListening, .notListening, .notASocket, .queueFull, .closed,
            .unreachable, .portTaken:
            .unavailable
        case .folderNotSafe, .permissionDenied, .foreignPeer, .tokenRefused: .permission
        case .system: .system
        }
    }

    /// Whether the same attempt may well succeed a little later.
    public var isRetryable: Bool {
        switch self {
        case .notListening, .closed, .queueFull, .unreachable: true
        case .nameUnknown(_, _, let isTemporary): isTemporary
        case .system(_, _, let code): [EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
        default: false
        }
    }

    public var description: String {
        switch self {
        case .invalidAddress(let text, let reason): "'\(text)' is not a link address: \(reason)"
        case .pathTooLong(let path, let bytes):
            "socket path '\(path)' has \(bytes) bytes; the system allows \(SocketAddress.longestPath): choose a shorter one"
        case .folderMissing(let folder): "folder '\(folder)' for the socket does not exist; make it first"
        case .folderNotSafe(let folder, let reason): "folder '\(folder)' can't be used for the socket: \(reason)"
        case .folderLocked(let folder):
            "another process holds the lock on folder '\(folder)'; choose a socket in a folder of your own"
        case .alreadyListening(let path): "another host already listens on '\(path)'"
        case .notListening(let path): "no host listens on '\(path)'"
        case .notASocket(let path): "'\(path)' exists and is not a socket"
        case .permissionDenied(let path): "no permission to use the socket '\(path)'"
        case .unreachable(let address, ECONNREFUSED): "no host listens on '\(address)'"
        case .unreachable(let address, let code):
            "'\(address)' can't be reached: \(String(cString: strerror(code)))"
        case .nameUnknown(let host, let reason, _): "the name '\(host)' has no address: \(reason)"
        case .portTaken(let address): "another program listens on '\(address)'; choose another port"
        case .notOurAddress(let address): "this machine has not the address of '\(address)': nobody could connect there"
        case .tokenRequired(let address):
            "'\(address)' is not of this machine alone: host and capture need the same --link-token FILE for it"
        case .tokenFile(let path, let reason, _): "'\(path)' can't be used as a token: \(reason)"
        case .tokenRefused(let text): text
        case .foreignPeer(let peerUser, let ourUser):
            "the process on the other end belongs to user \(peerUser); only user \(ourUser) and root may use this link"
        case .unusableDescriptor(let number, let reason): "descriptor \(number) can't be used as a link: \(reason)"
        case .queueFull(let pending, let limit):
            "the other end reads too slowly: \(pending) bytes wait to be written, at most \(limit) may"
        case .closed: "the link is closed"
        case .system(let call, let subject, let code):
            "\(call)\(subject.isEmpty ? "" : " '\(subject)'") failed: \(String(cString: strerror(code)))"
        }
    }
}
