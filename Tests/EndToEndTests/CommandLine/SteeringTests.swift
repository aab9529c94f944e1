import BrowserDriver
import CaptureLink
import Foundation
import LinkTransport
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Steering a share that runs", .enabled(if: EndToEnd.isPossible))
    struct SteeringTests {
        private func ask(_ words: [String], of desktop: SharedDesktop) throws -> CommandLineRun {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(desktop.host.child.processID)"])
        }

        @Test("limits, a sharper picture and the status get through, and what makes no sense is refused")
        func steering() throws {
            let desktop = try SharedDesktop()
            try desktop.host.waitForLog("has connected")
            var run = try ask(["rate", "--fps", "5", "--bitrate", "600k"], of: desktop)
            #expect(run.status == .exited(0) && run.output == "at most 5 fps and 600 kbit/s\n")
            // The answer is not what was asked for, but what will happen.
            run = try ask(["rate", "--fps", "60"], of: desktop)
            #expect(run.output.hasPrefix("at most 30 fps and 600 kbit/s; the capture was started with"))
            run = try ask(["rate", "--fps", "5"], of: desktop)
            #expect(run.output == "at most 5 fps and 600 kbit/s\n")
            run = try ask(["sharpen"], of: desktop)
            #expect(run.status == .exited(0) && run.output == "sharpening\n")
            try desktop.host.waitForLog("the host wants a sharper picture")

            // A snapshot makes the capture take pictures, and so gives figures about them.
            let file = desktop.folder.file("screen.png")
            try eventually("figures of pictures", within: .seconds(90)) { () throws -> Void? in
                #expect(try CommandLineRun(["screenrelay", "snapshot", desktop.link, "-o", file]).status == .exited(0))
                let text = try ask(["status"], of: desktop).output
                let begin = "live; sharing \(desktop.screen.name) to the room screen; 0 viewers; at most 5 fps"
                #expect(text.hasPrefix(begin))
                return text.contains("\n  capture: ") && text.contains("MiB of memory") ? () : nil
            }
            let status = try ask(["status", "--json"], of: desktop)
            let line = try #require(status.output.split(separator: "\n").first)
            let json = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
            #expect(json["process"].int == Int(desktop.host.child.processID))
            #expect(json["state"].string == "live" && json["room"].string == "screen" && json["viewers"].int == 0)
            #expect(json["maxPicturesPerSecond"].int == 5 && json["maxBitsPerSecond"].int == 600_000)
            #expect(json["capture"]["pictures"].int ?? 0 > 0 && json["capture"]["residentBytes"].int ?? 0 > 1 << 20)
            #expect(json["capture"]["recent"]["nanoseconds"].int ?? 0 > 0)

            run = try ask(["rate", "--fps", "max", "--bitrate", "max"], of: desktop)
            #expect(run.output == "as capture was started\n")
            for (words, reason) in [
                (["rate"], "--fps or --bitrate"), (["rate", "--fps", "0"], "1 to 120"),
                (["rate", "--bitrate", "much"], "4M, 600k"),
            ] {
                run = try ask(words, of: desktop)
                #expect(run.status == .exited(64) && run.errorLine?.contains(reason) == true, "\(run.errorOutput)")
            }
        }

        @Test("a host without a capture says that it has none")
        func withoutCapture() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
            _ = try host.printedLink()
            let process = "\(host.child.processID)"
            let run = try CommandLineRun(["screenrelay", "sharpen", "--pid", process])
            #expect(run.status == .exited(69) && run.errorLine?.contains("no capture is connected") == true)
            // Nobody knows yet with what options the capture will be started.
            let rate = try CommandLineRun(["screenrelay", "rate", "--fps", "60", "--pid", process])
            #expect(
                rate.output == "at most 60 fps; a capture that was started with lower limits keeps them\n"
            )
            let status = try CommandLineRun(["screenrelay", "status", "--json", "--pid", process])
            #expect(status.output.contains("\"state\":\"waiting\"") && !status.output.contains("capture\":"))
        }

        /// A host, and a connection to it that has greeted as a capture does.
        private static func connected(
            in folder: TemporaryFolder
        ) throws -> (host: RunningProgram, capture: SocketConnection, encoder: MessageEncoder) {
            let path = folder.file("s.sock")
            let host = try RunningProgram.host("unix:" + path)
            _ = try host.printedLink()
            let capture = try SocketConnection.connect(to: .unix(path: path))
            let encoder = MessageEncoder(epoch: 9)
            let hello = Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)
            try capture.enqueue(header: encoder.encode(.hello(hello)))
            return (host, capture, encoder)
        }

        @Test("averages are told of half a second and more: right after a start there are counts alone")
        func firstAverages() throws {
            let folder = try TemporaryFolder()
            let (host, capture, encoder) = try Self.connected(in: folder)
            var statistics = CaptureStatistics()
            (statistics.pictures, statistics.bytes) = (1, 30_000)
            for (milliseconds, words) in [
                (0, "capture: 1 picture so far,"), (8, "capture: 1 picture so far,"),
                (1000, "capture: 1.0 fps and 240 kbit/s,"),
            ] {
                var recent = RecentStatistics()
                (recent.pictures, recent.bytes, recent.duration) = (1, 30_000, UInt64(milliseconds) * 1_000_000)
                // This makes each one different from the previous one.
                statistics.heldBack += 1
                statistics.recent = recent
                try capture.enqueue(header: encoder.encode(.statistics(statistics)))
                try eventually("the capture's figures", holds: { try capture.flush() })
                let heldBack = "\(statistics.heldBack) pictures held back"
                let status = try eventually("figures of \(milliseconds) ms") {
                    let run = try CommandLineRun(["screenrelay", "status", "--pid", "\(host.child.processID)"])
                    return run.output.contains(heldBack) ? run.output : nil
                }
                #expect(status.contains(words), "\(status)")
            }
        }

        @Test("each figure that a capture reports is in the status for programs under its own name")
        func figures() throws {
            let folder = try TemporaryFolder()
            let (host, capture, encoder) = try Self.connected(in: folder)
            var statistics = CaptureStatistics()
            (statistics.pictures, statistics.idrPictures, statistics.bytes) = (1, 2, 3)
            (statistics.damageEvents, statistics.heldBack, statistics.grabNanoseconds) = (4, 5, 6)
            (statistics.convertNanoseconds, statistics.encodeNanoseconds, statistics.residentBytes) = (7, 8, 9)
            var recent = RecentStatistics()
            (recent.duration, recent.pictures, recent.bytes, recent.processorNanoseconds) = (10, 11, 12, 13)
            (recent.encodeMedianNanoseconds, recent.encodeP95Nanoseconds, recent.damagedMillionths) = (14, 15, 16)
            statistics.recent = recent
            let figures = try eventually("the capture's figures") { () throws -> JSONValue? in
                // What is recent is left out if it is older than 5 s.
                try capture.enqueue(header: encoder.encode(.statistics(statistics)))
                try eventually("the host to read", holds: { try capture.flush() })
                let status = ["screenrelay", "status", "--json", "--pid", "\(host.child.processID)"]
                let output = try CommandLineRun(status).output
                let json = try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8))["capture"]
                return json["recent"].isNull ? nil : json
            }
            let reported: JSONValue = [
                "pictures": 1, "idrPictures": 2, "bytes": 3, "damageEvents": 4, "heldBack": 5, "grabNanoseconds": 6,
                "convertNanoseconds": 7, "encodeNanoseconds": 8, "residentBytes": 9,
                "recent": [
                    "nanoseconds": 10, "pictures": 11, "bytes": 12, "processorNanoseconds": 13,
                    "encodeMedianNanoseconds": 14, "encodeP95Nanoseconds": 15, "damagedMillionths": 16,
                ],
            ]
            #expect(figures == reported)
        }

        @Test(
            "the status for programs has all fields that Protocol/control.md names, and no others",
            .enabled(if: FFmpeg.isAvailable), .timeLimit(.minutes(5)))
        func fields() throws {
            let folder = try TemporaryFolder()
            // 512 bytes a block: the recording soon has to stop.
            let recording = ["--record", folder.file("r.srr"), "--admin-token-file", folder.file("admin")]
            let host = try NetworkHost(
                recording + ["--presenters", "--waiting-room", "--rtmp", "0"],
                prefix: ["/bin/sh", "-c", "ulimit -f 100; exec \"$0\" \"$@\""])
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "patches"])
            let capture = try RunningProgram("screenrelay-capture", ["--link", host.address, "--display", screen.name])
            defer { for program in [capture, scene] { program.stop() } }
            let server = try #require(host.program.output.firstMatch(of: /rtmp:\/\/[^\/]+\/live/)).output
            let token = try host.program.presentersToken()
            let place = "\(server)/screen/film?token=\(token)"
            let publisher = try PublishedRoom.publish(["-tune", "zerolatency"], to: ["-f", "flv", place])
            defer { publisher.stop(within: .zero) }
            let waiting = try PythonClient("guest", in: .rtc, [host.link, "Ann"])
            try waiting.event("waiting")
            let presenters = host.link.prefix { $0 != "," } + ",\(token)"
            let process = ["--pid", "\(host.program.child.processID)"]
            let rate = try CommandLineRun(["screenrelay", "rate", "--fps", "20", "--bitrate", "2M"] + process)
            #expect(rate.status == .exited(0))
            let names = try DocumentedNames(
                in: "control.md", from: "## The status", until: "## The pushes")
            // Some are there only for a while after a picture, and the reason only once the recording has stopped.
            var missing = names.fields.union(["stopped"])
            defer { #expect(missing.isEmpty) }
            try eventually("all fields") {
                let picture = ["snapshot", String(presenters), "-o", folder.file("screen.png")]
                _ = try CommandLineRun(["screenrelay"] + picture)
                let output = try CommandLineRun(["screenrelay", "status", "--json"] + process).output
                let fields = try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8)).fieldNames
                #expect(fields.isSubset(of: names.all))
                missing.subtract(fields)
                return missing.isEmpty
            }
        }

        @Test(
            "a sharper picture of a large screen comes in parts that the bit rate has room for",
            .timeLimit(.minutes(5)))
        func sharpening() throws {
            let screen = try VirtualScreen(PictureSize(width: 1920, height: 1080))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "idle"])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            let capture = try LinkedCapture(screen)
            try capture.wait(for: "a picture") { !capture.taken.isEmpty }
            try capture.settle()
            let (first, begin) = (capture.taken.count, now())
            try capture.send(.sharpen)
            try capture.wait(for: "the first part") { capture.taken.count > first }
            try capture.settle(within: .seconds(90))
            let parts = capture.taken[first...].filter { $0.notice.qp == 10 }
            let bytes = parts.map(\.byteCount).reduce(0, +)
            let time = try #require(parts.last).arrival - begin
            print("sharpened in \(parts.count) parts of \(bytes) bytes in all, within \(time.milliseconds) ms")
            #expect(parts.count > 3 && bytes > 20_000 && time < .seconds(15))
            // The limit is 4 Mbit/s, plus one part that is larger than predicted.
            #expect(Double(bytes * 8) < 4e6 * (time.seconds + 0.5))
            #expect(capture.taken[first...].allSatisfy { !$0.isIDR })
            #expect(capture.program.stop() == .exited(0))
        }
    }
}
