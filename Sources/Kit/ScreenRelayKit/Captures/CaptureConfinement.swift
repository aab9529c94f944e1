import CLinux
import Glibc
import Processes

/// The limits of a capture process: it may use only the resources that it needs.
///
/// Its environment holds only what X, the desktop's portal, or the sound server's library, and its log need; its
/// descriptors are the standard streams and its link. It has a process group of its own, so a terminal's Ctrl-C reaches
/// only the host, which then ends the capture. The capture itself makes sure that it gains no privileges and that it
/// ends with its parent (`--supervised` of `screenrelay-capture` and `screenrelay-sound`).
public struct CaptureConfinement: Sendable {
    /// How much memory the capture may use.
    public var memory: CaptureMemory
    /// Whether the capture gets a copy of the credentials for its display or sound server. Needed if it runs as another
    /// user, who can't read ours.
    public var copiesCredentials = false
    /// The server that the capture needs.
    let resource: Resource

    /// The server that a capture reads from.
    enum Resource: Sendable {
        case display, desktop, soundServer

        /// The variables that its libraries read.
        fileprivate var variables: Set<String> {
            switch self {
            // The last one is for the lock of the login session.
            case .display: ["DISPLAY", "XAUTHORITY", "DBUS_SYSTEM_BUS_ADDRESS"]
            // HOME and XDG_STATE_HOME are for the token with which the desktop doesn't ask again.
            case .desktop:
                [
                    "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "PIPEWIRE_RUNTIME_DIR", "HOME",
                    "XDG_STATE_HOME", "DBUS_SYSTEM_BUS_ADDRESS",
                ]
            case .soundServer:
                [
                    "PULSE_SERVER", "PULSE_COOKIE", "PULSE_CLIENTCONFIG", "PULSE_RUNTIME_PATH", "PULSE_SINK",
                    "PULSE_SOURCE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
                ]
            }
        }

        /// The file with its credentials: the variable that names it, and its place in the home directory otherwise.
        /// Nil if there is none.
        fileprivate var credentials: (variable: String, file: String)? {
            switch self {
            case .display: ("XAUTHORITY", "/.Xauthority")
            case .desktop: nil
            case .soundServer: ("PULSE_COOKIE", "/.config/pulse/cookie")
            }
        }
    }

    /// A confinement of a capture of pictures, with only a memory limit.
    ///
    /// - Parameters:
    ///   - memory: the memory limit.
    ///   - sharesDesktop: whether the pictures are from a Wayland desktop instead of an X server. The desktop may ask
    ///     the user first, so that such a capture may take any time to begin.
    public init(memory: CaptureMemory = .bySize(CaptureMemoryExpectation()), sharesDesktop: Bool = false) {
        self.init(memory, sharesDesktop ? .desktop : .display)
    }

    private init(_ memory: CaptureMemory, _ resource: Resource) {
        self.memory = memory
        self.resource = resource
    }

    /// The confinement of a sound capture. Its memory limit is several times the usage of any sound capture.
    public static let sound = CaptureConfinement(.bytes(64_000_000), .soundServer)

    /// The variables that set the language of messages and the time zone of the log.
    private static let variables: Set<String> = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ"]
    /// The descriptor of the credentials, if they are passed on.
    static let credentialsDescriptor: Int32 = 4

    /// Sets up `launch`. Returns the descriptor to close once the capture was started, or -1 if there is none.
    func apply(to launch: inout Launch) -> Int32 {
        launch.leadsProcessGroup = true
        launch.inheritedVariables = Self.variables.union(resource.variables)
        #if DEBUG
            // A build that measures the tests' coverage writes its counts there.
            launch.inheritedVariables?.insert("LLVM_PROFILE_FILE")
        #endif
        guard let (variable, file) = resource.credentials else { return -1 }
        let named = Self.variable(variable)
        let home = Self.variable("HOME")
        guard copiesCredentials else {
            // Without the variable, the libraries look for the file in the home directory.
            if named == nil { launch.inheritedVariables?.insert("HOME") }
            return -1
        }
        launch.environment[variable] = .some(nil)
        guard let path = named ?? home.map({ $0 + file }), let copy = Self.copy(of: path) else { return -1 }
        launch.descriptors[Self.credentialsDescriptor] = copy
        // Opening it by this name reads it from its beginning. It has no name in the file system that could be left
        // behind.
        launch.environment[variable] = "/proc/self/fd/\(Self.credentialsDescriptor)"
        return copy
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Copies the file into sealed memory, which can't be changed any more. Returns nil if there is no such file.
    private static func copy(of path: String) -> Int32? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let copy = memfd_create("credentials", shim_MFD_CLOEXEC | shim_MFD_ALLOW_SEALING)
        guard copy >= 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // A credentials file has a few hundred bytes; a wrong file name must not fill our memory.
        for _ in 0..<64 {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            guard write(copy, buffer, count) == count else { break }
        }
        // F_ADD_SEALS with F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE (fcntl(2)).
        _ = fcntl(copy, 1033, 0xF)
        return copy
    }
}
