import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// `Tools/soak hls` runs it for longer.
    @Suite("HLS of a shared screen", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct PushHLSTests {
        private static let time = Interval.seconds(
            getenv("SCREENRELAY_HLS").flatMap { Int64(String(cString: $0)) } ?? 12)
        /// The playlist, six listed segments, seven that stay for players that still read them, an initialization
        /// segment, and one file that is being written.
        private static let most = 16

        private let folder: TemporaryFolder
        private var list: String { folder.file("room.m3u8") }
        init() throws { folder = try TemporaryFolder() }

        @Test(
            "a player shows a moving screen all the time, while the files on disk stay few and are all there",
            .timeLimit(.minutes(70)))
        func moving() throws {
            let begin = now()
            let desktop = try SharedDesktop(options: ["--push", "file:" + list])
            try eventually("a playlist") { access(list, F_OK) == 0 }
            print("a playlist \((now() - begin).milliseconds) ms after the programs were started")
            let seconds = Self.time.nanoseconds / 1_000_000_000
            var launch = Launch(
                "ffmpeg",
                ["-nostdin", "-v", "warning", "-i", list, "-t", "\(max(3, seconds - 6))", "-fps_mode", "passthrough"]
                    // With the stream's own clock: the guessed rate is too coarse for pictures that come in pairs.
                    + ["-enc_time_base", "-1", "-f", "framehash", folder.file("played.txt")])
            launch.standardError = .text(limit: 1 << 20)
            let player = try ChildProcess(launch)
            var (most, lists, shown) = (0, 0, now())
            while now() - begin < Self.time {
                let files = try listing()
                most = max(most, files.count)
                #expect(files.count <= Self.most, "\(files.sorted())")
                let text = String(decoding: try fileBytes(list), as: UTF8.self)
                let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
                let there = files.union(try listing())
                #expect(!names.isEmpty && there.isSuperset(of: names), "\(text)")
                lists += 1
                if now() - shown > .seconds(10) {
                    shown = now()
                    print("after \((now() - begin).milliseconds / 1000) s: \(files.count) files")
                }
                poll(nil, 0, 50)
            }
            print("\(most) files at most, in \(lists) looks at the folder and the playlist")
            try eventually("the player has its pictures", within: .seconds(120)) { player.poll() != nil }
            // FFmpeg reads the initialization segment again whenever it has read the list again. Version 7 has another
            // word for the -1 that version 5 wants.
            let complaints = (player.errorOutput?.text ?? "").split(separator: "\n").filter {
                !$0.contains("Found duplicated MOOV Atom") && !$0.contains("Last message repeated") && $0 != "  "
                    && !$0.hasSuffix("-enc_time_base -1 is deprecated, use -enc_time_base demux")
            }
            #expect(player.poll() == .exited(0) && complaints.isEmpty, "\(complaints)")
            let pictures = String(decoding: try fileBytes(folder.file("played.txt")), as: UTF8.self)
                .split(separator: "\n").count { !$0.hasPrefix("#") }
            print("FFmpeg played \(pictures) pictures")
            #expect(pictures > seconds * 5)
            #expect(desktop.host.stop() == .exited(0))
            #expect(String(decoding: try fileBytes(list), as: UTF8.self).hasSuffix("#EXT-X-ENDLIST\n"))
        }

        private func listing() throws -> Set<String> {
            let directory = try #require(opendir(folder.path))
            defer { closedir(directory) }
            var names: Set<String> = []
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix("room") { names.insert(name) }
            }
            return names
        }
    }
}
