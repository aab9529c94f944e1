import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Players and sources from the command line", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct Players {
        @Test("share --rtsp prints a URL that a player can watch, and host --source reads it for a room of its own")
        func watch() throws {
            let desktop = try SharedDesktop(options: ["--rtsp", "0"])
            let begin = "Players of RTSP: "
            let line = try #require(desktop.host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let url = String(line.dropFirst(begin.count))
            let played = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-fpsprobesize", "0", "-i", url, "-frames:v", "1", "-f", "rawvideo",
                "-pix_fmt", "gray", "pipe:1",
            ])
            #expect(played.status == .exited(0) && played.bytes.count == 640 * 480, "\(played.messages)")

            let folder = try TemporaryFolder()
            let host = try RunningProgram.host(
                "unix:\(folder.file("link.sock"))", ["--source", url, "--rtsp", "0", "--log", "info"])
            try eventually("the source's first words") { host.log.contains("/... sends H.264 of 640x480") }
            try eventually("what it prints") { host.output.contains(begin) }
            #expect(host.output.contains("Reading rtsp://127.0.0.1:"))
            // A player of the second host sees the first one's screen.
            let second = try #require(host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let again = try FFmpeg.run([
                "-rtsp_transport", "udp", "-fpsprobesize", "0", "-i", String(second.dropFirst(begin.count)),
                "-frames:v", "1", "-f",
                "rawvideo",
                "-pix_fmt", "gray", "pipe:1",
            ])
            #expect(again.status == .exited(0) && again.bytes.count == 640 * 480, "\(again.messages)")
            let token = try #require(url.split(separator: "@").first?.split(separator: ":").last)
            #expect(!host.log.contains(token))
            let arguments = String(decoding: try fileBytes("/proc/\(host.child.processID)/cmdline"), as: UTF8.self)
            #expect(!arguments.contains(token))
            #expect(host.stop() == .exited(0))
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a port that is taken is one line and 69, and what can't be used one line and 64")
        func refusals() throws {
            let desktop = try SharedDesktop(options: ["--rtsp", "0"])
            let port = try #require(
                desktop.host.output.split(separator: "\n").first { $0.hasPrefix("Players of RTSP: ") }?
                    .split(separator: "@").last?.split(separator: "/").first?.split(separator: ":").last)
            for (words, code, reason) in [
                (["--rtsp", "\(port)"], 69, "--rtsp \(port): the port \(port) is taken by another program"),
                (["--rtsp", "x"], 64, "not an address to listen on; write it like 127.0.0.1:554"),
                (["--rtsp", "192.0.2.1:554"], 64, "other machines can reach that address; add --lan if they may"),
                (["--source", "ftp://h/Sesam"], 64, "--source: nothing is read over ftp"),
                (["--source", "file:a", "--source", "file:b"], 64, "two sources are for the first track"),
                (["--source", "file:a,track=../b"], 64, "track="),
            ] as [([String], Int32, String)] {
                let folder = try TemporaryFolder()
                let link = ["--link", "unix:\(folder.file("link.sock"))"]
                let run = try CommandLineRun(["screenrelay", "host"] + words + link + RunningProgram.anyPorts)
                #expect(run.status == .exited(code), "\(words): \(run.errorOutput)")
                let line = try #require(run.errorLine)
                #expect(line.contains(reason) && !line.contains("Sesam"), "\(line)")
            }
        }
    }
}
