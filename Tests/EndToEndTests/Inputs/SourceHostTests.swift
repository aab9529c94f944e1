import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host that reads a source", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct SourceHostTests {
        private let folder: TemporaryFolder
        /// A file with pictures for 20 s.
        private let talk: String

        init() throws {
            folder = try TemporaryFolder()
            talk = folder.file("talk.mp4")
            let raw = try folder.write("talk.264", TestStreams.small.bytes())
            let copied = try FFmpeg.run(["-f", "h264", "-r", "5", "-i", raw, "-c", "copy", talk])
            try #require(copied.status == .exited(0), "\(copied.messages)")
        }

        private func host(_ options: [String] = []) throws -> RunningProgram {
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"), ["--source", "file:" + talk] + options)
            _ = try host.printedLink()
            return host
        }

        private func ask(_ words: [String], of host: RunningProgram) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(host.child.processID)"])
        }

        @Test("refuses limits and sharper pictures, which it can't bring about")
        func orders() throws {
            let host = try host(["--log", "info"])
            try host.waitForLog("sends H.264")
            for (words, reason) in [
                (["rate", "--fps", "5"], "the frame rate can't be limited here"),
                (["rate", "--fps", "5", "--bitrate", "50k"], "the frame rate and bit rate can't be limited here"),
                (["sharpen"], "no capture is connected"),
            ] {
                let run = try ask(words, of: host)
                #expect(run.status == .exited(69) && run.errorLine?.contains(reason) == true, "\(run.errorOutput)")
            }
            #expect(try ask(["rate", "--fps", "max"], of: host).status == .exited(0))
            #expect(try !ask(["status"], of: host).output.contains("at most"))
            #expect(host.stop() == .exited(0))
        }

        @Test("reads the sources of its settings again at SIGHUP, and leaves those alone that stay")
        func reloaded() throws {
            let first = "file:\(talk)"
            func write(_ sources: String) throws -> String {
                try folder.write("config", Array("[host]\nsource=\(sources)\n".utf8))
            }
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"), ["--config", write(first), "--log", "info"])
            _ = try host.printedLink()
            try host.waitForLog("sends H.264")
            func hasSecond() throws -> Bool { try ask(["rooms", "--json"], of: host).output.contains("\"second\"") }
            #expect(try !hasSecond())

            _ = try write("\(first);\(first),track=second")
            host.child.terminate(SIGHUP)
            try host.waitForLog("sends H.264", count: 2)
            #expect(try hasSecond())
            _ = try write("nothing")
            host.child.terminate(SIGHUP)
            try host.waitForLog("the sources were not reloaded, and the old ones stay in use: ")
            #expect(try hasSecond())
            _ = try write(first)
            host.child.terminate(SIGHUP)
            try eventually("the second track's end", holds: { try !hasSecond() })
            #expect(host.occurrences(of: "sends H.264") == 2)
            #expect(host.stop() == .exited(0))
        }

        @Test("records what it reads, with the sound, and exports all of it")
        func recorded() throws {
            let (sounded, recording) = (folder.file("sounded.mkv"), folder.file("talk.srr"))
            let made = try FFmpeg.run([
                "-i", talk, "-f", "lavfi", "-i", "sine=440:sample_rate=48000", "-t", "4", "-c:v", "copy", "-c:a",
                "libopus", sounded,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            let host = try RunningProgram.host(
                "unix:" + folder.file("s.sock"),
                ["--source", "file:" + sounded, "--record", recording, "--log", "info"])
            _ = try host.printedLink()
            try host.waitForLog("the source file:\(sounded) has ended")
            #expect(host.stop() == .exited(0))
            let exported = folder.file("exported.mkv")
            let export = try CommandLineRun(["screenrelay", "export", recording, "-o", exported])
            try #require(export.status == .exited(0), "\(export.errorOutput)")
            let pictures = try FFmpeg.decode(exported, to: "gray")
            #expect(pictures.faults.isEmpty, "\(pictures.messages)")
            // 5 a second; the last one is held back.
            #expect(pictures.bytes.count >= 19 * 176 * 144)
            let sound = try FFmpeg.run(["-i", exported, "-map", "0:a:0", "-ac", "1", "-f", "f32le", "pipe:1"])
            let samples = sound.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            #expect(samples.count > 3 * 48_000, "\(sound.messages)")
            #expect(ToneFit(440, in: Array(samples.dropFirst(48_000).prefix(24_000))).amplitude > 0.05)
        }

        @Test("ends with one line if there is no such file, or if it is of no use as a source")
        func unusable() throws {
            let text = try folder.write("notes.mp4", Array("no film".utf8))
            let still = folder.file("still.png")
            let made = try FFmpeg.run(["-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", still])
            try #require(made.status == .exited(0), "\(made.messages)")
            for (file, code) in [(folder.file("nope.mp4"), Int32(66)), (text, 65), (still, 65)] {
                let run = try CommandLineRun(
                    ["screenrelay", "host", "--link", "unix:" + folder.file("n.sock"), "--source", "file:" + file]
                        + LinkSocket.hostOptions)
                #expect(run.status == .exited(code), "\(file): \(run.output) \(run.errorOutput)")
                // The others are log lines.
                let lines = run.errorOutput.split(separator: "\n").filter { $0.contains("--source file:\(file)") }
                #expect(lines.count == 1, "\(run.errorOutput)")
            }
        }

        @Test("waits for a sender only where other machines can't reach it, unless --lan says that they may")
        func listener() throws {
            let words = ["host", "--source", "srt://0.0.0.0:\(try freePort())?mode=listener&passphrase=Sesam12345"]
            let refused = try CommandLineRun(["screenrelay"] + words)
            let line = try #require(refused.errorLine)
            #expect(refused.status == .exited(64) && line.contains("--source: other machines can reach the address"))
            #expect(!line.contains("Sesam"))
            let link = ["--link", "unix:" + folder.file("w.sock"), "--lan", "--listen", "0", "--udp-port", "0"]
            let waiting = try RunningProgram("screenrelay", words + link)
            _ = try waiting.printedLink()
            #expect(waiting.stop() == .exited(0))
        }

        @Test("names the source in its status")
        func status() throws {
            let host = try host(["--log", "info"])
            try host.waitForLog("sends H.264")
            #expect(try ask(["status"], of: host).output.hasPrefix("live; showing file:\(talk) to the room screen; "))
            #expect(host.stop() == .exited(0))

            let nobody = "rtmp://127.0.0.1:\(try freePort())/live/key"
            let other = try RunningProgram.host("unix:" + folder.file("o.sock"), ["--source", nobody])
            _ = try other.printedLink()
            #expect(try ask(["status"], of: other).output.hasPrefix("waiting for the source; showing rtmp://"))
        }
    }
}
