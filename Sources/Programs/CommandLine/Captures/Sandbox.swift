import CConfinement
import CLinux
import Glibc
public import LinkTransport
public import Threading

/// The rights that a program that captures keeps once it has opened what it captures. It gives up all others for good:
/// an attacker who controls it, through a fault in it or its libraries, gets little more than what it captures, and
/// what the server that it captures from does for any client.
public struct Sandbox: Sendable {
    /// The sockets that may still be opened.
    public enum Sockets: Sendable {
        case none
        /// Unix sockets.
        case local
        /// Unix sockets, those of the network, and what is needed to look up names.
        case network
    }

    /// The sockets that may still be opened.
    public var sockets: Sockets
    /// The files that may still be read, and the folders below which everything may.
    public var readable: [String] = []
    /// The folders in which, and below which, folders may still be listed and made.
    public var listable: [String] = []

    /// The rights that reaching the host at `link` again needs. A socket that was inherited is the only one.
    public init(for link: LinkAddress) {
        sockets =
            switch link {
            case .descriptor: .none
            case .unix: .local
            case .tcp, .tls: .network
            }
    }

    /// Gives up all other rights. Logs what the kernel enforces: if it lacks something, the program works without it.
    /// Only without seccomp is that a warning.
    ///
    /// Landlock confines only the calling thread and those that it starts. The log's thread is therefore held back
    /// until now (``LineWriter/hold()``); the caller has to start its others later, too.
    public func enter(log: EventLog) {
        let outcome = enter()
        LineWriter.standardError.resume()
        log.write(outcome.level, "confined: \(outcome)")
    }

    /// What the kernel enforces.
    struct Outcome: Equatable, Sendable, CustomStringConvertible {
        /// The errno with which seccomp(2) failed; 0 if it didn't.
        var seccompError: Int32
        /// The version of Landlock that confines this thread; 0 if none does.
        var landlockVersion: Int32
        /// The errno with which the kernel's Landlock failed; 0 if it didn't, or if the kernel has none.
        var landlockError: Int32 = 0
        /// Whether there were other threads, which Landlock doesn't confine.
        var hasOlderThreads: Bool

        /// How much it matters.
        var level: EventLog.Level { seccompError == 0 ? .debug : .warning }

        var description: String {
            let calls = seccompError == 0 ? "by seccomp" : "not (\(String(cString: strerror(seccompError))))"
            let problem = landlockError == 0 ? "no Landlock" : "Landlock: \(String(cString: strerror(landlockError)))"
            let files = landlockVersion > 0 ? "by Landlock \(landlockVersion)" : "not (\(problem))"
            return "system calls \(calls), files \(files)" + (hasOlderThreads ? " except on older threads" : "")
        }
    }

    /// Gives up all other rights: system calls for all threads, or for the calling thread and those that it starts.
    func enter(forAllThreads: Bool = true) -> Outcome {
        // Without it, only root could do the rest. It can't fail on a kernel that has seccomp.
        _ = shim_refuse_privileges()
        // The log's times need the time zone's file.
        tzset()
        var tasks = stat()
        // The folder has two links, and one for each thread.
        let hasOlderThreads = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3
        let files = refuseFiles()
        return Outcome(
            seccompError: shim_refuse_calls(families, forAllThreads ? 1 : 0, getpid()), landlockVersion: files.version,
            landlockError: files.error, hasOlderThreads: hasOlderThreads)
    }

    /// Returns the version of Landlock that applies from now on, 0 if none does; and the errno of a failure, otherwise
    /// 0.
    private func refuseFiles() -> (version: Int32, error: Int32) {
        let version = shim_landlock_version()
        guard version > 0 else { return (0, 0) }
        let rules = shim_landlock_rules(version)
        guard rules >= 0 else { return (0, errno) }
        defer { close(rules) }
        let files = readable + (sockets == .network ? Self.foldersForNames : [])
        for path in files { Self.allow(path, shim_landlock_read_file | shim_landlock_list, rules) }
        // Often a link to a file elsewhere.
        if sockets == .network, let path = realpath("/etc/resolv.conf", nil) {
            Self.allow(Self.lastingPlace(of: String(cString: path)), shim_landlock_read_file, rules)
            free(path)
        }
        for path in listable { Self.allow(path, shim_landlock_list | shim_landlock_make_folder, rules) }
        #if DEBUG
            // A build that measures the tests' coverage writes its counts when it ends.
            if let file = getenv("LLVM_PROFILE_FILE").map({ String(cString: $0) }), let end = file.lastIndex(of: "/") {
                Self.allow(String(file[..<end]), shim_landlock_all(version), rules)
            }
        #endif
        let error = shim_landlock_enter(rules)
        return (error == 0 ? version : 0, error)
    }

    /// Leaves out a path where nothing is.
    private static func allow(_ path: String, _ rights: UInt64, _ rules: Int32) {
        let place = open(path, shim_path_only | O_CLOEXEC)
        guard place >= 0 else { return }
        defer { close(place) }
        var status = stat()
        let isFile = fstat(place, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
        shim_landlock_allow(rules, place, isFile ? rights & shim_landlock_read_file : rights)
    }

    /// The folders whose files getaddrinfo(3) reads: its settings, and its libraries. OpenSSL has settings there too.
    private static let foldersForNames = ["/etc", "/lib", "/lib64", "/usr"]

    /// What a rule allows so that `file`, without links in its path, can still be read later: in a folder of /run, that
    /// folder, because another program replaces the file there, and the rule for a file ends with it.
    static func lastingPlace(of file: String) -> String {
        let folder = file.prefix(upTo: file.lastIndex(of: "/") ?? file.startIndex)
        return folder.hasPrefix("/run/") ? String(folder) : file
    }

    /// The address families of `sockets`, one bit for each.
    private var families: UInt32 {
        let allowed: [Int32] =
            switch sockets {
            case .none: []
            case .local: [AF_UNIX]
            // The kernel is asked for the machine's own addresses, by which getaddrinfo(3) sorts what it finds.
            case .network: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]
            }
        return allowed.reduce(0) { $0 | 1 << UInt32($1) }
    }
}

extension ParsedOptions {
    /// The rights that a capture for the host at `link` keeps; nil for all, which `--unconfined` asks for.
    public func sandbox(for link: LinkAddress) -> Sandbox? { has("unconfined") ? nil : Sandbox(for: link) }
}
