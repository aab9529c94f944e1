import Glibc
public import MediaTypes

/// The service manager that has started this process, such as systemd, and waits for its news (sd_notify(3)). Any
/// thread may call any method.
public struct ServiceManager: Sendable {
    /// What a service tells its manager.
    public enum News: Equatable, Sendable {
        /// The service works. `status` is for people, and every user of the machine can read it; nil keeps the former.
        case ready(status: String? = nil)
        /// The service has begun to reload, at this time. `ready` follows.
        case reloading(since: MonotonicTime)
        /// The service has begun to end.
        case stopping
        /// The service answers its watchdog.
        case alive

        fileprivate var message: String {
            switch self {
            case .ready(let status): "READY=1" + (status.map { "\nSTATUS=\(printable($0))" } ?? "")
            case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time.nanoseconds / 1000)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// How often to send ``News/alive``: three times in the time after which the manager ends a service that doesn't.
    /// Nil if it has no watchdog.
    public let watchdogInterval: Interval?
    private let path: String

    /// The longest name of a socket in bytes (unix(7)), without a NUL at its end.
    private static let maxPath = 107

    /// Finds the manager by `$NOTIFY_SOCKET`; nil if there is none.
    public init?(environment: (String) -> String? = SettingsFile.variable) {
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count <= Self.maxPath
        else { return nil }
        self.path = path
        let isForUs = environment("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        if isForUs, let time = environment("WATCHDOG_USEC").flatMap({ Int64($0) }), time > 0 {
            watchdogInterval = Interval.microseconds(time) / 3
        } else {
            watchdogInterval = nil
        }
    }

    /// Sends the news. Blocks while the manager's queue is full; news that can't be sent is lost.
    public func tell(_ news: News) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = Array(path.utf8)
        // An abstract name begins with a NUL (unix(7)).
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(news.message.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                while sendto(descriptor, bytes, bytes.count, 0, $0, length) < 0, errno == EINTR {}
            }
        }
    }
}
