import Ingest
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Threading
import TrackHub

extension LinkServerTests {
    /// The host's end of a link, from the socket to the hub.
    final class Host {
        let folder: TemporaryFolder
        let path: String
        let hub = TrackHub(origin: now())
        let sound = TrackHub(origin: now())
        let ingest: TrackIngest
        let server: LinkServer
        private let lines: Lines

        final class Lines: Sendable {
            let all = Mutex<[String]>([])
        }

        init(silenceTimeout: Interval = .seconds(10)) throws {
            folder = try TemporaryFolder()
            path = folder.file("s.sock")
            let lines = Lines()
            self.lines = lines
            let log = EventLog { level, line in lines.all.withLock { $0.append("\(level): \(line)") } }
            ingest = try TrackIngest(hub: hub, log: log)
            server = try LinkServer(
                at: .unix(path: path), ingest: ingest, sound: sound, name: "test host",
                silenceTimeout: silenceTimeout, log: log)
        }

        deinit { server.stop() }

        var logged: [String] { lines.all.withLock { $0 } }

        func waitForLog(_ text: String) throws {
            try eventually("'\(text)' in the log", holds: { lines.all.withLock { $0.contains { $0.contains(text) } } })
        }
    }
}
