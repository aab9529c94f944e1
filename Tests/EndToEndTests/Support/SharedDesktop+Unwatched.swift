import BrowserDriver
import FoundationEssentials
import Processes
import TestSupport

extension SharedDesktop {
    /// The most descriptors of a host without viewers, including a browser's idle connections.
    private static let maxUnwatched = 64

    /// The number of viewers, as the host reports it; nil if it reports none.
    func viewerCount() throws -> Int? {
        let status = try CommandLineRun(["screenrelay", "status", "--json", "--pid", "\(host.child.processID)"])
        return try JSONDecoder().decode(JSONValue.self, from: Data(status.output.utf8))["viewers"].int
    }

    /// Waits until the host reports that it has no viewer, and returns what it uses then.
    func figuresUnwatched() throws -> ProcessFigures {
        let process = host.child.processID
        try eventually("that nobody watches", holds: { try viewerCount() == 0 })
        var figures = try ProcessFigures(process)
        // Connections that a browser keeps for another request are closed after a while.
        try eventually("that its connections rest") { () throws -> Void? in
            let now = try ProcessFigures(process)
            defer { figures = now }
            return now.descriptors == figures.descriptors && now.descriptors <= Self.maxUnwatched ? () : nil
        }
        return figures
    }
}
