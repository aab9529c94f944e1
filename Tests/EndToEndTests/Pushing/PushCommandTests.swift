import BrowserDriver
import Foundation
import H264
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Pushing from the command line", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct PushCommand {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        @Test("share --push sends the screen to the server and says so, and nobody sees the key")
        func share() throws {
            let port = try freePort()
            let server = try MediaReceiver(.rtmp, port: port, in: folder)
            let url = server.url + "?sign=Sesam"
            let desktop = try SharedDesktop(options: ["--push", url, "--log", "debug"])
            let shown = "the push to rtmp://127.0.0.1:\(port)/live/... "
            try eventually("it is connected") { desktop.host.output.contains(shown + "is connected") }
            for process in [desktop.host.child.processID, try desktop.captureProcessID()] {
                let arguments = String(decoding: try fileBytes("/proc/\(process)/cmdline"), as: UTF8.self)
                #expect(!arguments.contains("Sesam") && !arguments.contains("/live/key"), "\(arguments)")
            }
            try eventually("some pictures are there") { (try? fileBytes(server.file))?.count ?? 0 > 20_000 }
            #expect(desktop.host.stop() == .exited(0))
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            #expect(desktop.host.output.contains(shown + "has ended"))
            #expect(!desktop.host.output.contains("Sesam") && !desktop.host.log.contains("Sesam"))
            let decoded = try FFmpeg.decode(server.file)
            #expect(decoded.faults.isEmpty, "\(decoded.messages)")
            #expect(decoded.bytes.count >= 640 * 480 * 3)
        }

        @Test("pushes that have ended make room for others, whose numbers go on")
        func many() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let process = ["--pid", "\(desktop.host.child.processID)"]
            for number in 1...65 {
                let words = ["add", "rtmp://127.0.0.1:1/live/key", "--preset", "only=sound"]
                let added = try CommandLineRun(["screenrelay", "push"] + words + process)
                #expect(added.output.hasPrefix("push \(number) to "), "\(added.errorOutput)")
                _ = try CommandLineRun(["screenrelay", "push", "stop", "\(number)"] + process)
            }
            let list = try CommandLineRun(["screenrelay", "push", "list"] + process).output
            let numbers = list.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
            #expect(numbers.count == 64 && numbers.first == "2" && numbers.last == "65", "\(list)")
        }

        @Test("a push can be added, listed, stopped and restarted while the share runs")
        func running() throws {
            let desktop = try SharedDesktop()
            let process = ["--pid", "\(desktop.host.child.processID)"]
            func push(_ words: [String]) throws -> CommandLineRun {
                try CommandLineRun(["screenrelay", "push"] + words + process)
            }
            func states() throws -> [String] {
                let rows = try push(["list"]).output.split(separator: "\n").dropFirst()
                return rows.map { $0.split(separator: " ").dropFirst(4).first.map(String.init) ?? "" }
            }
            #expect(try push(["list"]).output == "nothing is pushed\n")
            let port = try freePort()
            let url = "rtmp://127.0.0.1:\(port)/live/Sesam"
            let added = try push(["add", url, "--preset", "low1"])
            #expect(added.status == .exited(0) && added.output == "push 1 to rtmp://127.0.0.1:\(port)/live/...\n")
            try eventually("it has failed") { try states() == ["error:"] }
            let server = try MediaReceiver(.rtmp, port: port, in: folder)
            #expect(try push(["restart", "1"]).status == .exited(0))
            try eventually("it is connected") { try states() == ["connected"] }
            let json = try push(["list", "--json"]).output
            #expect(json.contains(#""state":"connected""#) && !json.contains("Sesam"))
            // By RTMP, silence is sent where there is no sound.
            try eventually("a status") {
                let json = try push(["list", "--json"]).output
                return json.contains(#""soundPerSecond":"#) && !json.contains(#""soundPerSecond":0,"#)
            }
            let listed = try push(["list", "--json"]).output
            let fields = try JSONDecoder().decode(JSONValue.self, from: Data(listed.utf8))["pushes"][0].fieldNames
            let names = try DocumentedNames(
                in: "control.md", from: "## The pushes", until: "| what | limit | beyond it |")
            #expect(names.fields.subtracting(fields).isEmpty && fields.isSubset(of: names.all))
            #expect(try push(["stop", "1"]).status == .exited(0))
            try eventually("it has ended") { try states() == ["disconnected"] }
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            #expect(!desktop.host.log.contains("Sesam") && !desktop.host.output.contains("Sesam"))
            let missing = try push(["stop", "7"])
            #expect(missing.status == .exited(69) && missing.errorLine?.contains("there is no push 7") == true)
            for words in [
                ["begin"], ["stop"], ["stop", "x"], ["add", "http://Sesam"], ["list", "--preset", "low1"],
                ["reload"], ["reload", "x"], ["reload", "1", "--preset", "huge"],
            ] {
                let run = try push(words)
                #expect(run.status == .exited(64) && run.errorLine?.contains("Sesam") == false, "\(run.errorOutput)")
            }
            // Only the share knows that it hasn't --lan.
            let open = try push(["add", "srt://0.0.0.0:9000?passphrase=Sesam&mode=listener"])
            #expect(open.status != .exited(0) && open.errorLine?.contains("other machines can reach") == true)
            #expect(!open.errorOutput.contains("Sesam"))
        }

        @Test("a push gets other settings while it runs, and says why it can't")
        func reload() throws {
            let port = try freePort()
            let server = try MediaReceiver(.rtmp, port: port, in: folder)
            let desktop = try SharedDesktop(options: ["--push", server.url, "--push", "rtsp://127.0.0.1:9/desk"])
            func reload(_ words: [String]) throws -> CommandLineRun {
                let process = ["--pid", "\(desktop.host.child.processID)"]
                return try CommandLineRun(["screenrelay", "push", "reload"] + words + process)
            }
            try eventually("it is connected") { desktop.host.output.contains("/live/... is connected") }
            try eventually("some pictures are there") { (try? fileBytes(server.file))?.count ?? 0 > 20_000 }
            for words in [["1", "--preset", "size=320x240,bitrate=300k"], ["1"]] {
                let run = try reload(words)
                #expect(run.status == .exited(0) && run.output.hasPrefix("reloading push 1 to rtmp://127.0.0.1:"))
            }
            let missing = try reload(["7", "--preset", "low1"])
            #expect(missing.status == .exited(69) && missing.errorLine?.contains("there is no push 7") == true)
            let adapting = try reload(["2", "--preset", "low1,adapt=64k"])
            #expect(adapting.status == .exited(69))
            #expect(adapting.errorLine?.contains("adapt= and adapt-fps= work only with rtmp, rtmps and srt") == true)
        }

        @Test("send-buffer= in a preset is the size of the RTMP connection's send buffer")
        func sendBuffer() throws {
            let server = try RawServer()
            let url = "rtmp://127.0.0.1:\(server.port)/live/key"
            let desktop = try SharedDesktop(options: ["--push", url, "--preset", "send-buffer=77k"])
            // The kernel doubles what was set (socket(7)).
            try eventually("a socket with this buffer") {
                var launch = Launch("ss", ["-Htnm", "dport", "=", ":\(server.port)"])
                launch.standardOutput = .text(limit: 1 << 16)
                return try ChildProcess.run(launch, within: .seconds(10)).output.contains("tb\(77 * 2 << 10),")
            }
            withExtendedLifetime(desktop) {}
        }

        @Test(
            "with --key-frames, a receiver over RTMP gets key frames at this interval, which is shorter than a push's own"
        )
        func keyFrames() throws {
            let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
            let desktop = try SharedDesktop(options: ["--push", server.url, "--key-frames", "1s"])
            let times = try eventually("five key frames") { () -> [Double]? in
                let times = try FFmpeg.frames(of: server.file).filter(\.isKeyFrame).map(\.time)
                return times.count >= 5 ? times : nil
            }
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 2 }, "\(times)")
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a server that isn't there is a line for the first try and for the end, and no reason to end the share")
        func refused() throws {
            let url = "rtmp://127.0.0.1:\(try freePort())/live/Sesam"
            let desktop = try SharedDesktop(options: ["--push", url, "--push-tries", "1"])
            try eventually("the failure") {
                desktop.host.output.contains("/live/... has failed: Connection refused\n")
            }
            #expect(desktop.host.output.contains("tries again: Connection refused\n"))
            #expect(desktop.host.child.poll() == nil && !desktop.host.output.contains("Sesam"))
            #expect(desktop.host.stop() == .exited(0))
        }

        @Test("a preset that names only the sound leaves the video as it is")
        func soundPreset() throws {
            let files = ["plain.mkv", "sound.mkv"].map { folder.file($0) }
            let pushes = files.flatMap { ["--push", "file:" + $0] }
            let desktop = try SharedDesktop(options: pushes + ["--preset", "sound-bitrate=96k"])
            try eventually("both files") { files.allSatisfy { (try? fileBytes($0))?.count ?? 0 > 20_000 } }
            #expect(desktop.host.stop() == .exited(0))
            let pictures = try files.map { file in
                let raw = file + ".264"
                let copied = try FFmpeg.run(["-i", file, "-c", "copy", "-f", "h264", raw])
                #expect(copied.faults.isEmpty, "\(copied.messages)")
                return Set(AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw)).map(\.slices))
            }
            // No re-encoded picture would be the same, byte for byte.
            let common = pictures[0].intersection(pictures[1])
            #expect(common.count > 5, "\(common.count) of \(pictures.map(\.count))")
        }

        @Test("the pointer is drawn into what is pushed, as it is and encoded once more, and then into snapshots")
        func pointer() throws {
            let desktop = try SharedDesktop(scene: ["--still"])
            let client = try DisplayClient(desktop.screen.name)
            // A white dot with its hot spot in the middle, on the scene's dark ground.
            client.showPointer(at: (300, 9), glyph: 38)
            func isInSnapshot() throws -> Bool {
                let place = SceneRectangle(299, 8, 2, 2)
                return try LinkSnapshot(of: desktop.link).picture.meanColor(of: place).map { $0.green > 160 } ?? false
            }
            // Pages would draw it themselves.
            try eventually("a snapshot without the pointer") { try !isInSnapshot() }
            let files = ["plain.mkv", "encoded.mkv"].map { desktop.folder.file($0) }
            for (file, preset) in zip(files, [[], ["--preset", "size=640x480,bitrate=2M"]]) {
                let words = ["screenrelay", "push", "add", "file:" + file, "--pid", "\(desktop.host.child.processID)"]
                #expect(try CommandLineRun(words + preset).status == .exited(0))
            }
            try eventually("both files") { try files.allSatisfy { try fileBytes($0).count > 2000 } }
            try eventually("a snapshot with the pointer") { try isInSnapshot() }
            #expect(desktop.host.stop() == .exited(0))
            for file in files {
                let gray = try FFmpeg.decode(file, to: "gray").bytes
                try #require(gray.count >= 640 * 480)
                let last = gray.suffix(640 * 480)
                let (dot, ground) = (last[last.startIndex + 9 * 640 + 300], last[last.startIndex + 9 * 640 + 340])
                #expect(dot > 180 && ground < 100, "\(dot) on \(ground) in \(file)")
            }
        }

        @Test("a URL that can't be used is refused in one line without its key, with 64")
        func mistakes() throws {
            for (url, reason) in [
                ("live.example/Sesam", "it isn't a URL"),
                ("http://live.example/app/Sesam", "nothing is pushed over http"),
                ("rtmp://live.example/app/Sesam key", "has a space"),
                ("rtmps://me:Sesam@live.example/app/key", "without a check of the certificate"),
                ("srt://0.0.0.0:9000?passphrase=Sesam&mode=listener", "other machines can reach the address"),
            ] {
                let run = try CommandLineRun(["screenrelay", "host", "--push", url] + RunningProgram.anyPorts)
                #expect(run.status == .exited(64))
                let line = try #require(run.errorLine)
                #expect(line.contains("--push: ") && line.contains(reason) && !line.contains("Sesam"), "\(line)")
            }
            let address = ["--push", "rtmp://live.example/app/Sesam"]
            for (words, reason) in [
                (address + ["--preset", "huge"], "no preset is called 'huge'; they are low1, low2"),
                (
                    address + ["--preset", "high1,profile=baseline3.0"],
                    "baseline3.0 takes at most 720x480, not 720x1280"
                ),
                (
                    address + ["--preset", "high1,adapt-fps=9"],
                    "a minimum of 9 fps; it must be 10 or more, and at most 24"
                ),
                (address + ["--preset", "size=big"], "'size=big' isn't a size; write it like size=1280x720"),
                (
                    address + ["--preset", "high1,sound-bitrate=32k"],
                    "sound at 32 kbit/s; there can be 64 to 128 kbit/s"
                ),
                (
                    address + ["--preset", "sound-rate=22050"], "sound of 22050 Hz; there can be 32000, 44100 or 48000"
                ),
                (address + ["--preset", "send-buffer=8k"], "isn't a size from 16k to 16384k"),
                (
                    ["--push", "srt://live.example:9", "--preset", "send-buffer=64k"],
                    "send-buffer= works only with rtmp and rtmps"
                ),
                (address + ["--preset", "only=both"], "write only=pictures or only=sound"),
                (address + ["--preset", "sound=off"], "'sound=off' is not understood"),
                (["--preset", "high1"] + address, "--preset: must follow the --push that it is for"),
            ] {
                let run = try CommandLineRun(["screenrelay", "host"] + words + RunningProgram.anyPorts)
                #expect(run.status == .exited(64))
                let line = try #require(run.errorLine)
                #expect(line.contains("--preset") && line.contains(reason) && !line.contains("Sesam"), "\(line)")
            }
            let idle = try CommandLineRun(["screenrelay", "host", "--push-tries", "3"] + RunningProgram.anyPorts)
            #expect(idle.status == .exited(64) && idle.errorLine?.contains("add --push URL") == true)
        }
    }
}
