import Glibc

/// The reason why a link could not be made, or why it ended.
public enum SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The address can't be parsed; `reason` says what would be right.
    case invalidAddress(text: String, reason: String)
    /// The socket's path doesn't fit into `sockaddr_un` (unix(7)), which holds at most 107 bytes.
    case pathTooLong(path: String, bytes: Int)
    /// The folder for the socket doesn't exist.
    case folderMissing(folder: String)
    /// The folder for the socket belongs to another user, or others may write to it.
    case folderNotSafe(folder: String, reason: String)
    /// Another process holds the lock on the socket's folder and doesn't release it.
    case folderLocked(folder: String)
    /// A live process already accepts connections on this path.
    case alreadyListening(path: String)
    /// No process accepts connections on this path now. It makes sense to try again later.
    case notListening(path: String)
    /// The file at this path isn't a socket.
    case notASocket(path: String)
    /// The system denies access to this path.
    case permissionDenied(path: String)
    /// No answer comes from this TCP address now; `code` is the errno.
    case unreachable(address: String, code: Int32)
    /// No IP address was found for the name in a TCP address.
    case nameUnknown(host: String, reason: String, isTemporary: Bool)
    /// Another program listens at this TCP address.
    case portTaken(address: String)
    /// No interface of this machine has this TCP address, so it can't be used for listening.
    case notOurAddress(address: String)
    /// A token is required, because the address is on another machine or can be reached from other machines.
    case tokenRequired(address: String)
    /// The file can't be used as a token. `kind` is `permission` if others may have read it or this process may not,
    /// `missing` if it doesn't exist, or `data` if its content isn't a token.
    case tokenFile(path: String, reason: String, kind: Kind)
    /// TLS failed: what came was changed on its way, the peer refuses the certificate, or this process lacks something.
    case encryption(reason: String)
    /// Host and capture don't have the same token, or only one of them encrypts; `text` is the message.
    case tokenRefused(text: String)
    /// The process on the other end belongs to neither this user nor root.
    case foreignPeer(peerUser: UInt32, ourUser: UInt32)
    /// The descriptor that was passed on isn't open or isn't a connected socket.
    case unusableDescriptor(number: Int32, reason: String)
    /// The peer reads too slowly: `pending` bytes already wait, and `limit` is the maximum.
    case queueFull(pending: Int, limit: Int)
    /// The connection has ended, and nothing more can be written.
    case closed
    /// A system call failed with the errno `code`.
    case system(call: String, subject: String, code: Int32)

    /// The category of an error, which determines a program's exit code.
    public enum Kind: Sendable {
        /// The user's input can't work (exit 64).
        case usage
        /// The other end isn't there or has left; try again later (exit 69 if that makes no sense).
        case unavailable
        /// A required file doesn't exist (exit 66).
        case missing
        /// A file has invalid content (exit 65).
        case data
        /// The user has declined, or has stopped what was allowed (exit 75).
        case declined
        /// Access is denied (exit 77).
        case permission
        /// The system failed (exit 71).
        case system
    }

    /// The error of a capture that doesn't encrypt, for a host that does.
    public static let hostEncrypts = SocketError.tokenRefused(
        text: "the host there encrypts its link: use tls: instead of tcp:, and the host's --capture-key file")

    /// The category of the error.
    public var kind: Kind {
        switch self {
        case .invalidAddress, .pathTooLong, .unusableDescriptor, .notOurAddress, .tokenRequired: .usage
        case .nameUnknown(_, _, let isTemporary): isTemporary ? .unavailable : .usage
        case .tokenFile(_, _, let kind): kind
        case .folderMissing, .folderLocked, .alreadyListening, .notListening, .notASocket, .queueFull, .closed,
            .unreachable, .portTaken, .encryption:
            .unavailable
        case .folderNotSafe, .permissionDenied, .foreignPeer, .tokenRefused: .permission
        case .system: .system
        }
    }

    /// Whether the same attempt may succeed a little later.
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
        case .invalidAddress(let text, let reason): "'\(text)' is not the address of a capture link: \(reason)"
        case .pathTooLong(let path, let bytes):
            "socket path '\(path)' has \(bytes) bytes; the system allows \(SocketAddress.maxPath): choose a shorter one"
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
        case .notOurAddress(let address): "'\(address)' is not an address of this machine"
        case .tokenRequired(let address) where address.hasPrefix("tls:"):
            "'\(address)' is encrypted with the capture key: host and capture need the same --capture-key FILE"
        case .tokenRequired(let address):
            "'\(address)' is not only of this machine: host and capture need the same --capture-key FILE for it"
        case .tokenFile(let path, let reason, _): "'\(path)' can't be used as a capture key: \(reason)"
        case .encryption(let reason): "TLS failed: \(reason)"
        case .tokenRefused(let text): text
        case .foreignPeer(let peerUser, let ourUser):
            "the process on the other end belongs to user \(peerUser); only user \(ourUser) and root may use this capture link"
        case .unusableDescriptor(let number, let reason):
            "descriptor \(number) can't be used as a capture link: \(reason)"
        case .queueFull(let pending, let limit):
            "the other end reads too slowly: \(pending) bytes wait to be written, at most \(limit) may"
        case .closed: "the capture link is closed"
        case .system(let call, let subject, let code):
            "\(call)\(subject.isEmpty ? "" : " '\(subject)'") failed: \(String(cString: strerror(code)))"
        }
    }
}
