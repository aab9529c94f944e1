import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// `Tools/soak edges` runs it with more players.
    @Suite(
        "HLS through caches",
        .enabled(if: EndToEnd.isPossible && NginxServer.isAvailable && PythonClient.isAvailable(.debian)))
    struct HLSEdgeTests {
        private static let most = getenv("SCREENRELAY_PLAYERS").flatMap { Int(String(cString: $0)) } ?? 200
        /// How long the players of a run play, in seconds.
        private static let seconds = 12
        /// How many segments are fetched to measure ages; at least three, with which a player begins at the end.
        private static let segments = getenv("SCREENRELAY_PLAYERS") == nil ? 3 : 20

        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        /// Has players at the edges play, and expects them to get every segment. Returns a link's path.
        @discardableResult
        private func play(_ count: Int, seconds: Int = Self.seconds, at edges: [NginxSite]) throws -> String {
            let players = try PythonClient(
                "Network/hls_players", in: .debian,
                ["\(count)", "\(seconds)", "SECRET", "live/room"] + edges.map(\.place))
            let refused = try players.event("refused")
            #expect(refused["statuses"] as? [Int] == [403, 410, 403])
            let done = try players.event("done", within: .seconds(Int64(seconds) + 90))
            #expect((done["faults"] as? [String: Any])?.isEmpty == true, "\(done)")
            #expect(done["segments"] as? Int ?? 0 >= 2 * count, "\(done)")
            let caching = try #require(done["caching"] as? [String: [String]])
            #expect(caching["m3u8"] == ["public, max-age=1"], "\(caching)")
            for kind in ["m4s", "mp4"] { #expect(caching[kind] == ["public, max-age=300, immutable"], "\(caching)") }
            return try #require(refused["link"] as? String)
        }

        /// Prints how old pictures are at an edge, and at a player that begins at once or just before the next segment.
        private func measureAges(of link: String, at edge: NginxSite, showing screen: VirtualScreen) throws {
            let ages = try PictureAges.measure(Self.segments, of: link, at: edge, showing: screen, in: folder)
            var played: [Double] = []
            for (age, next) in zip(ages, ages.dropFirst()) {
                let latest = age.played + next.time - age.time
                #expect(0 <= age.last && age.last < age.first && age.first < age.played, "\(age)")
                // Less than two whole lists of six segments.
                #expect(latest < 12 * age.target, "\(age)")
                played += [age.played, latest]
            }
            func range(_ ages: [Double]) -> String {
                "\(Int(1000 * (ages.min() ?? 0))) to \(Int(1000 * (ages.max() ?? 0))) ms"
            }
            print(
                "\(ages.count) segments: when the list at an edge first names one, its last picture is "
                    + "\(range(ages.map(\.last))) old, its first \(range(ages.map(\.first))); a player is "
                    + "\(range(played)) behind the screen (calculated)")
        }

        @Test(
            "the origin has the same work with 10 and with 200 players, whose links it never sees, and may go",
            .timeLimit(.minutes(10)))
        func load() throws {
            try #require(mkdir(folder.file("live"), 0o700) == 0)
            let list = folder.file("live/room.m3u8")
            let desktop = try SharedDesktop(
                scene: ["--fps", "\(PictureAges.rate)"], options: ["--push", "file:" + list])
            defer { desktop.stop() }
            let origin = try NginxSite(
                "hls-origin", replacing: [("listen 8090;", "listen <place>;"), ("/srv/www", folder.path)], in: folder)
            let changes = [
                ("listen 80;", "listen <place>;"), ("origin.example.org:8090", origin.place),
                ("/var/cache/nginx/screenrelay", "<own>/cache"), ("/var/log/nginx/", "<own>/"),
            ]
            let edges = try (0..<2).map { _ in try NginxSite("hls-edge", replacing: changes, in: folder) }
            let sites = [origin] + edges
            try eventually("a playlist") { access(list, F_OK) == 0 }
            var link = ""
            for count in [10, Self.most] {
                let former = try origin.requests.count
                let work = try sites.map { try ProcessFigures($0.process.processID).cpuTime }
                link = try play(count, at: edges)
                let requests = try origin.requests.dropFirst(former)
                let lists = requests.count { $0.hasSuffix(".m3u8") }
                // Each edge keeps a list for a second; the players begin within one.
                #expect((1...edges.count * (Self.seconds + 2)).contains(lists))
                let times = try zip(sites, work).map { site, before in
                    (try ProcessFigures(site.process.processID).cpuTime - before).milliseconds
                }
                print(
                    "\(count) players for \(Self.seconds) s: the origin answered \(lists) requests for the list and "
                        + "\(requests.count - lists) for segments in \(times[0]) ms of CPU time; the edges took "
                        + "\(times[1]) and \(times[2]) ms")
            }
            try measureAges(of: link, at: edges[0], showing: desktop.screen)
            let files = try Dictionary(grouping: origin.requests.filter { !$0.hasSuffix(".m3u8") }) { $0 }
            #expect(files.count >= 5 && files.values.allSatisfy { $0.count <= edges.count }, "\(files)")
            // A link has a comma.
            for site in sites {
                let log = try site.log(site === origin ? "access.log" : "screenrelay.log")
                #expect(!log.isEmpty && !log.contains { $0.contains(",") })
            }
            origin.process.stop()
            try play(2, seconds: 2, at: edges)
        }
    }
}
