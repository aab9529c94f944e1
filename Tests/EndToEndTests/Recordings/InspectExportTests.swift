import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Looking into files, and making others of them", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct InspectExport {
        private let folder: TemporaryFolder
        private let stream: [UInt8]
        private let path: String

        init() throws {
            folder = try TemporaryFolder()
            path = folder.file("in.264")
            _ = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-bf", "0",
                "-x264-params", "keyint=10", "-pix_fmt", "yuv420p", "-f", "h264", path,
            ])
            stream = try fileBytes(path)
        }

        @Test("inspect shows every picture; who reads no more of it is no error")
        func inspect() throws {
            let run = try CommandLineRun(["screenrelay", "inspect", "--pictures", path])
            #expect(run.status == .exited(0))
            #expect(run.output.split(separator: "\n").count { $0.contains(" IDR ") || $0.contains("  P  ") } >= 50)
            #expect(run.output.contains("pictures   50: 5 IDR, 45 P; 50 slices\n"))
            #expect(run.errorOutput.isEmpty)
            let program = try #require(builtProgram("screenrelay"))
            var launch = Launch(
                "sh", ["-c", "'\(program)' inspect --json '\(path)' | head -n 1"])
            launch.standardOutput = .text(limit: 1 << 16)
            launch.standardError = .text(limit: 1 << 16)
            let piped = try ChildProcess.run(launch, within: .seconds(90))
            #expect(piped.1.hasPrefix("{\"type\":\"nalUnit\",\"offset\":0,"))
            #expect(piped.2.isEmpty)
        }

        @Test("export to .h264 gives an H.264 stream back byte for byte; to .mp4 and .mkv, its pictures")
        func export() throws {
            for suffix in ["h264", "mp4", "mkv"] {
                let output = folder.file("out.\(suffix)")
                let run = try CommandLineRun(["screenrelay", "export", path, "-o", output, "--fps", "25"])
                #expect(run.status == .exited(0))
                if suffix == "h264" {
                    #expect(try fileBytes(output) == stream)
                } else {
                    #expect(run.output == "\(output): 50 pictures of 160x120, 1.960 s\n")
                    #expect(try FFmpeg.decode(output, to: "yuv420p").bytes == FFmpeg.decode(path, to: "yuv420p").bytes)
                }
                let again = try CommandLineRun(["screenrelay", "export", path, "-o", output])
                #expect(again.status == .exited(73))
                #expect(again.errorLine?.contains("already exists") == true)
                #expect(
                    try CommandLineRun(["screenrelay", "export", "--force", path, "-o", output]).status == .exited(0))
            }
        }

        @Test("export to .mp4 and .mkv has the sound beside the pictures; to .h264, the pictures alone")
        func exportedSound() throws {
            let pictures = MessageEncoder(epoch: 1)
            let sound = MessageEncoder(epoch: 2, stream: MessageHeader.soundStream)
            let begin = MonotonicTime(nanoseconds: 1_000_000_000)
            let silence: [UInt8] = [0, 0, 0, 1, 0xF0, 0xFF, 0xFE]
            var dump: [UInt8] = []
            var count: Int64 = 0
            for start in starts(of: stream) {
                let end = starts(of: stream).first { $0 > start } ?? stream.count
                let unit = Array(stream[start..<end].drop { $0 == 0 }.dropFirst())
                let isPicture = [1, 5].contains((unit.first ?? 0) & 0x1F)
                let time = begin + .milliseconds(count * 40)
                dump += try pictures.unitHeader(payloadCount: unit.count + 4, captureTime: time, endsFrame: isPicture)
                dump += [0, 0, 0, 1] + unit
                guard isPicture else { continue }
                for index in 0..<4 {
                    dump += try sound.unitHeader(
                        payloadCount: silence.count, captureTime: time + .milliseconds(Int64(index) * 10),
                        endsFrame: true)
                    dump += silence
                }
                count += 1
            }
            let file = try folder.write("sound.dump", dump)
            for suffix in ["mp4", "mkv", "h264"] {
                let output = folder.file("sound.\(suffix)")
                let run = try CommandLineRun(["screenrelay", "export", file, "-o", output])
                #expect(run.status == .exited(0) && run.errorOutput.isEmpty, "\(run.errorOutput)")
                guard suffix != "h264" else { continue }
                #expect(run.output == "\(output): 50 pictures of 160x120, 1.960 s, 2.000 s of sound\n")
                #expect(try FFmpeg.decode(output, to: "yuv420p").bytes == FFmpeg.decode(path, to: "yuv420p").bytes)
                let heard = try FFmpeg.run(["-i", output, "-map", "0:a:0", "-f", "s16le", "-ac", "1", "pipe:1"])
                #expect(abs(heard.bytes.count - 2 * 2 * 48_000) < 2 * 480)
            }
            let plain = folder.file("sound.h264")
            #expect(try FFmpeg.decode(plain, to: "yuv420p").bytes == FFmpeg.decode(path, to: "yuv420p").bytes)
        }

        @Test("a dump that is cut: what is whole is shown and written, its end is named, and the exit code is 65")
        func cut() throws {
            // The 16-byte form, made by hand: `&`, seven zeros and the length before each NAL unit.
            var dump: [UInt8] = []
            for start in starts(of: stream) {
                let end = starts(of: stream).first { $0 > start } ?? stream.count
                let body = stream[start..<end].drop { $0 == 0 }.dropFirst()
                var length = UInt64(body.count + 4)
                dump += [0x26, 0, 0, 0, 0, 0, 0, 0]
                for _ in 0..<8 {
                    dump.append(UInt8(truncatingIfNeeded: length))
                    length >>= 8
                }
                dump += [0, 0, 0, 1] + body
            }
            let whole = try folder.write("whole.dump", dump)
            let all = try CommandLineRun(["screenrelay", "inspect", "-s", whole])
            #expect(all.output.contains("pictures   50:"))
            let cut = try folder.write("cut.dump", Array(dump.dropLast(20)))
            let run = try CommandLineRun(["screenrelay", "inspect", "-s", cut])
            #expect(run.status == .exited(65))
            #expect(run.output.contains("pictures   49:"))
            #expect(run.output.contains("ends at    byte \(dump.count - 20)\n"))
            let output = folder.file("cut.mp4")
            let exported = try CommandLineRun(["screenrelay", "export", cut, "-o", output])
            #expect(exported.status == .exited(65))
            #expect(exported.output.hasPrefix("\(output): "))
            #expect(exported.errorOutput.contains("everything intact before byte"))
            let pictures = try FFmpeg.decode(output, to: "gray").bytes.count / (160 * 120)
            #expect((48...49).contains(pictures))
        }

        @Test("a length that is not true costs no memory")
        func lyingLength() throws {
            let lie: [UInt8] = [0x26, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
            let file = try folder.write("lie.dump", lie + [UInt8](repeating: 0x26, count: 1 << 17))
            for words in [["inspect", "-s", file], ["export", file, "-o", folder.file("lie.mp4")]] {
                let run = try CommandLineRun(["screenrelay"] + words)
                #expect(run.status == .exited(65))
            }
            #expect(access(folder.file("lie.mp4"), F_OK) != 0)
        }

        @Test("with --link, what a capture sends is shown as it comes; SIGINT ends with the summary")
        func link() throws {
            let socket = folder.file("l.sock")
            var launch = Launch(
                try #require(builtProgram("screenrelay")), ["inspect", "--json", "--link", "unix:\(socket)"])
            launch.standardOutput = .text(limit: 1 << 20)
            launch.standardError = .text(limit: 1 << 16)
            let inspect = try ChildProcess(launch)
            defer { inspect.stop(within: .zero) }
            let capture = try eventually("inspect to listen") { try? TestSocket(path: socket) }
            let encoder = MessageEncoder(epoch: 9)
            try capture.send(
                encoder.encode(.hello(Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true))))
            try capture.send(encoder.encode(.size(PictureSize(width: 64, height: 48))))
            try eventually("the messages to be shown", holds: { inspect.output?.text.contains("\"64x48\"") == true })
            // Send bytes that are no message, then a message, then another one that confirms that the first is real.
            try capture.send([0, 1, 2, 3])
            try capture.send(encoder.encode(.sharing(.paused)))
            try capture.send(encoder.encode(.sharing(.live)))
            try eventually("what stands behind damage", holds: { inspect.output?.text.contains("\"paused\"") == true })
            inspect.terminate(SIGINT)
            #expect(inspect.wait(within: .seconds(10)) == .exited(65))
            inspect.output?.waitForEnd(within: .seconds(10))
            let text = inspect.output?.text ?? ""
            #expect(text.contains("\"code\":\"unreadable\""))
            #expect(text.contains("{\"type\":\"summary\""))
        }

        @Test("an export is for its user alone, follows no link, and is not written of what begins behind the end")
        func exportedSafely() throws {
            let output = folder.file("out.mp4")
            #expect(try CommandLineRun(["screenrelay", "export", path, "-o", output]).status == .exited(0))
            var status = stat()
            #expect(stat(output, &status) == 0 && status.st_mode & 0o777 == 0o600)
            for suffix in ["h264", "mkv"] {
                let late = folder.file("late.\(suffix)")
                let run = try CommandLineRun(["screenrelay", "export", path, "-o", late, "--from", "90s"])
                #expect(run.status == .exited(64))
                #expect(run.errorLine?.contains("--from 90s: '\(path)' ends after ") == true, "\(run.errorOutput)")
                #expect(access(late, F_OK) != 0)
                let link = folder.file("link.\(suffix)")
                symlink(folder.file("elsewhere"), link)
                let linked = try CommandLineRun(["screenrelay", "export", path, "-o", link])
                #expect(linked.status == .exited(73))
                #expect(access(folder.file("elsewhere"), F_OK) != 0)
            }
        }

        @Test("where what it says of an export can't be written the file is whole, and one line tells that")
        func exportedUnheard() throws {
            let output = folder.file("out.h264")
            let export = try RunningProgram(
                "screenrelay", ["export", path, "-o", output], prefix: EndToEndBesideBrowser.LostOutput.onFullDisk)
            #expect(export.child.wait(within: .seconds(90)) == .exited(74))
            export.child.errorOutput?.waitForEnd(within: .seconds(10))
            #expect(export.log == "screenrelay: standard output: No space left on device\n")
            #expect(try fileBytes(output) == stream)
        }

        @Test("what can't be done is said in one line")
        func mistakes() throws {
            for (words, code, says) in [
                (["inspect"], 64, "FILE or --link"), (["export", path], 64, "--output"),
                (["export", path, "-o", "x.avi"], 64, ".mp4"),
                (["export", path, "-o", path], 64, "choose another name"),
                (["export", "none.srr", "-o", "x.mp4"], 66, "does not exist"),
                (["inspect", "/etc/passwd"], 65, "neither"),
                (["export", path, "-o", "/no/such/x.mkv"], 73, "can't be created"),
                (["export", path, "-o", "x.mkv", "--from", "9s", "--to", "1s"], 64, "--to 1s"),
            ] {
                let run = try CommandLineRun(["screenrelay"] + words, folder: folder.path)
                #expect(run.status == .exited(Int32(code)), "\(words)")
                #expect(run.errorLine?.contains(says) == true, "\(run.errorOutput)")
            }
        }

        /// Where start codes begin, including the leading zero of the long ones.
        private func starts(of bytes: [UInt8]) -> [Int] {
            bytes.indices.dropLast(2).compactMap { index in
                guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else { return nil }
                return index > 0 && bytes[index - 1] == 0 ? index - 1 : index
            }
        }
    }
}
