import Glibc
import ScreenRelayKit
import Signalling

/// The shares and hosts of this user that run already, when another one finds its port taken.
enum RunningHosts {
    /// The error for a host that could not begin; where the port may be that of one that runs, also which one that is, and how to
    /// have both.
    static func words(for error: HostError) -> String {
        guard error.isPortTaken else { return error.description }
        let client = ControlClient()
        let others = client.processes.filter { $0 != getpid() }
        guard !others.isEmpty else { return error.description }
        let list = others.prefix(3).map { process in "process \(process) (\(link(of: process, client)))" }
        return "\(error); running already: \(list.joined(separator: ", ")); for another beside it add "
            + "--listen 0 --udp-port 0, or end it with 'screenrelay stop'"
    }

    /// Its link for a person to see; what is not a terminal may be a journal, in which no token belongs.
    private static func link(of process: Int32, _ client: ControlClient) -> String {
        let elsewhere = "'screenrelay link' prints its link"
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
