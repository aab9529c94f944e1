import Glibc
import ScreenRelayKit
import Signalling

/// This user's running shares and hosts, for a program that finds its port taken.
enum RunningHosts {
    /// The error of a host that could not start. If one of this user's hosts may have its port, also says which one and
    /// how to run both.
    static func text(for error: HostError) -> String {
        guard error.isPortTaken else { return error.description }
        let client = ControlClient()
        let others = client.processes.filter { $0 != getpid() }
        guard !others.isEmpty else { return error.description }
        let list = others.prefix(3).map { process in "process \(process) (\(link(of: process, client)))" }
        return "\(error); running already: \(list.joined(separator: ", ")); for another one add "
            + "--listen 0, or end it with 'screenrelay stop'"
    }

    /// The host's link if standard error is a terminal. Otherwise it may be a journal, which must not get a token.
    private static func link(of process: Int32, _ client: ControlClient) -> String {
        let elsewhere = "'screenrelay link' prints its invite link"
        guard isatty(2) == 1 else { return elsewhere }
        do throws(ControlError) {
            return LinksDocument(json: try client.ask(.link, of: process))?.links.first ?? elsewhere
        } catch {
            return elsewhere
        }
    }
}

extension HostError {
    fileprivate var isPortTaken: Bool {
        switch self {
        case .signalling(.occupied), .media(_, _, isTaken: true): true
        default: false
        }
    }
}
