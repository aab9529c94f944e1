import BrowserDriver
import FoundationEssentials
import Processes
import TestSupport

/// The seconds that `screenrelay view --stats json` has reported in `output`.
func viewedSeconds(in output: String) -> [JSONValue] {
    output.split(separator: "\n").compactMap { line in
        try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
    }
}

/// Waits for a second with pictures, among those after the first `count` that `viewer` reports.
@discardableResult
func waitForPictures(_ viewer: RunningProgram, after count: Int = 0, withDelay: Bool = false) throws -> JSONValue {
    try eventually("pictures") {
        if let status = viewer.child.poll() { throw ProgramEnded(status: status, log: viewer.log) }
        return viewedSeconds(in: viewer.output).dropFirst(count).first { second in
            (second["pictures"].number ?? 0) >= 1 && (!withDelay || second["delay"].number != nil)
        }
    }
}
