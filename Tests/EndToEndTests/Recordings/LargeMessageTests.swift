import ByteCoding
import CaptureLink
import Glibc
import H264
import MediaTypes
import Processes
import Recording
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Files with the largest messages", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct LargeMessages {
        private static let largest = LinkLimits().unit
        private let folder: TemporaryFolder
        private let units: [[UInt8]]

        init() throws {
            folder = try TemporaryFolder()
            let path = folder.file("in.264")
            _ = try FFmpeg.run([
                "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=0.2", "-c:v", "libx264", "-bf", "0",
                "-x264-params", "keyint=1", "-pix_fmt", "yuv420p", "-f", "h264", path,
            ])
            let stream = try fileBytes(path)
            units = AnnexB.nalUnits(in: stream).map { Array(stream[$0]) }.filter { $0[0] & 0x1F != 6 }
        }

        /// The file's NAL units: either with slices as large as a message can hold, of which only the headers make
        /// sense, or repeated unchanged, so that a run lasts long enough for its memory to be seen.
        private func payloads(isLarge: Bool) -> [[UInt8]] {
            let all = isLarge ? units : (0..<300).flatMap { _ in units }
            return all.map { unit in
                let payload = AnnexB.startCode + unit
                guard isLarge, unit[0] & 0x1F == 5 else { return payload }
                return payload + [UInt8](repeating: 0x55, count: Self.largest - payload.count)
            }
        }

        private func recording(isLarge: Bool) throws -> [UInt8] {
            let start = MonotonicTime(nanoseconds: 1)
            let recorder = RecordingWriter(header: RecordingHeader(start: start, wallClock: 0))
            let encoder = MessageEncoder(epoch: 7)
            var writer = ByteWriter()
            writer.append(recorder.header.bytes)
            recorder.appendConnection(at: start, to: &writer)
            var time = start
            for payload in payloads(isLarge: isLarge) {
                let isSlice = payload[4] & 0x1F == 5
                let message =
                    try encoder.unitHeader(
                        payloadCount: payload.count, captureTime: time, endsFrame: isSlice) + payload
                recorder.appendHeader(of: message[...], form: .extended, at: time, to: &writer)
                writer.append(message)
                if isSlice { time = time + .milliseconds(40) }
            }
            recorder.appendEnd(at: time, to: &writer)
            return writer.bytes
        }

        /// Returns the most memory that a run uses, in bytes.
        private func peak(_ words: [String], _ status: Int32) throws -> Int {
            let program = try RunningProgram("screenrelay", words)
            var peak = 0
            let end = try eventually("the end of \(words)", within: .seconds(120)) { () -> ProcessStatus? in
                // The program may have ended meanwhile.
                let status = (try? fileBytes("/proc/\(program.child.processID)/status")) ?? []
                let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
                    $0.hasPrefix("VmHWM:")
                }
                let number = line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
                peak = max(peak, number ?? 0)
                return program.child.poll()
            }
            #expect(end == .exited(status), "\(words): \(program.log)")
            return peak << 10
        }

        @Test(
            "take not more than twice their size, and Matroska a cluster in addition, whole and cut",
            arguments: [false, true])
        func memory(isRecording: Bool) throws {
            func bytes(_ isLarge: Bool) throws -> [UInt8] {
                try isRecording ? recording(isLarge: isLarge) : payloads(isLarge: isLarge).flatMap { $0 }
            }
            let small = try folder.write("small", try bytes(false))
            let whole = try folder.write("whole", try bytes(true))
            let cut = try folder.write("cut", try bytes(true).dropLast(Self.largest / 3))
            let host = try RecordingHost()
            let commands = [
                ["inspect", "-s"], ["replay", "--speed", "max", "--link", host.address],
                ["export", "--force", "-o", folder.file("o.h264")], ["export", "--force", "-o", folder.file("o.mp4")],
                ["export", "--force", "-o", folder.file("o.mkv")],
            ]
            // What the program needs by itself.
            let usual = try commands.map { try peak($0 + [small], 0) }.max() ?? 0
            for words in commands {
                for (file, status) in [(whole, Int32(0)), (cut, isRecording ? 65 : 0)] {
                    let growth = try peak(words + [file], status) - usual
                    // Besides messages, this allows for the pieces in which they are read and written.
                    // libavformat collects a cluster of Matroska in memory, here one message.
                    let cluster = words.last?.hasSuffix(".mkv") == true ? Self.largest : 0
                    let limit = 2 * Self.largest + (1 << 20) + cluster
                    #expect(growth < limit, "\(words[0]) \(words.last ?? "") of \(file)")
                }
            }
            try host.finish()
        }

        @Test("cut at many places give what is whole, name where that ends, and take not more either")
        func cuts() throws {
            let program = try #require(builtProgram("screenrelay"))
            // `Tools/soak cuts` tries each of the first 4,096 bytes, and 1,000 random ones.
            let folder = String(program.dropLast("/screenrelay".count))
            var launch = Launch(
                "\(packageRoot)/Tools/soak",
                ["cuts", "--programs", folder, "--every", "1024", "--random", "2", "--at-once", "2"])
            launch.environment = RunningProgram.environment
            launch.standardOutput = .text(limit: 1 << 20)
            launch.standardError = .text(limit: 1 << 20)
            let run = try ChildProcess.run(launch, within: .seconds(300))
            #expect(run.status == .exited(0), "\(run.output)\(run.errorOutput)")
        }
    }
}
