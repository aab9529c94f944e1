import CLinux
import Glibc
import Processes

/// What a capture process is given by who starts it, and no more.
///
/// Its environment is what X needs, its descriptors are the standard streams and its link. That it gains no privileges and ends
/// with its parent it sees to itself (`screenrelay-capture --supervised`).
public struct CaptureConfinement: Sendable {
    /// How much memory it may take.
    public var memory: CaptureMemory
    /// Whether the display's credentials are handed down as a copy: for a capture that runs as another user, who can't read ours.
    public var copiesCredentials = false

    /// Nothing but a ceiling of memory.
    public init(memory: CaptureMemory = .bySize(CaptureMemoryExpectation())) {
        self.memory = memory
    }

    /// The variables that the X libraries read, and the ones for the language of messages.
    private static let variables: Set<String> = [
        "DISPLAY", "XAUTHORITY", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
    ]
    /// Where the credentials are found, if they are handed down.
    static let credentialsDescriptor: Int32 = 4

    /// Sets `launch` up; gives the descriptor to close once it was started, -1 for none.
    func apply(to launch: inout Launch) -> Int32 {
        launch.inheritedVariables = Self.variables
        let named = Self.variable("XAUTHORITY")
        let home = Self.variable("HOME")
        guard copiesCredentials else {
            // Without XAUTHORITY the file is looked for in the home folder.
            if named == nil { launch.inheritedVariables?.insert("HOME") }
            return -1
        }
        launch.environment["XAUTHORITY"] = .some(nil)
        guard let path = named ?? home.map({ $0 + "/.Xauthority" }), let copy = Self.copy(of: path) else { return -1 }
        launch.descriptors[Self.credentialsDescriptor] = copy
        // Opened anew by name, it is read from its beginning; it has no name in the file system to be left behind.
        launch.environment["XAUTHORITY"] = "/proc/self/fd/\(Self.credentialsDescriptor)"
        return copy
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The file's bytes in memory of their own, which nobody can change any more; nil where there is no such file.
    private static func copy(of path: String) -> Int32? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let copy = memfd_create("credentials", shim_MFD_CLOEXEC | shim_MFD_ALLOW_SEALING)
        guard copy >= 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // A file of credentials has some hundred bytes; a mistaken name must not fill our memory.
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
