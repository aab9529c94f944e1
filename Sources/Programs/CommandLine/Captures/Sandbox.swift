import CConfinement
import CLinux
import Glibc
public import LinkTransport
public import Threading

/// The rights that a program that captures keeps once it has opened what it captures. It gives up all others for good:
/// an attacker who controls it, through a fault in it or its libraries, gets little more than what it captures.
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

    /// The rights that reaching the host at `link` again needs. A socket that was inherited is the only one.
    public init(for link: LinkAddress) {
        sockets =
            switch link {
            case .descriptor: .none
            case .unix: .local
            case .tcp, .tls: .network
            }
    }

    /// Gives up all other rights, for all threads. Logs what the kernel enforces: where it lacks something, the program
    /// works without it.
    public func enter(log: EventLog) {
        let outcome = enter()
        log.debug("confined: \(outcome)")
    }

    /// What the kernel enforces.
    struct Outcome: Equatable, Sendable, CustomStringConvertible {
        /// The errno with which seccomp(2) failed; 0 if it didn't.
        var seccompError: Int32

        var description: String {
            "system calls " + (seccompError == 0 ? "by seccomp" : "not (\(String(cString: strerror(seccompError))))")
        }
    }

    /// Gives up all other rights, for all threads, or for the calling thread and those that it starts.
    func enter(forAllThreads: Bool = true) -> Outcome {
        // Without it, only root could do the rest. Cannot fail on a kernel that has seccomp.
        _ = shim_refuse_privileges()
        return Outcome(seccompError: shim_refuse_calls(families, forAllThreads ? 1 : 0))
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
