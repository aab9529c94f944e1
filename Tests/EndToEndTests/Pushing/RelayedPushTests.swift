import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "A push to an RTMP server that is another host's source",
        .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable && NginxServer.isAvailable))
    struct RelayedPushTests {
        private static let size = (width: 320, height: 240)
        /// How far a beep may be from its flash, in seconds.
        private static let tolerance = 0.1

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test("arrives with frames and audio, which are still in sync", .timeLimit(.minutes(5)))
        func inSync() throws {
            let server = try NginxServer(port: try freePort(), in: folder)
            let near = try host("near", ["--source", "file:" + flashesAndBeeps(), "--push", server.url])
            try eventually("the push at nginx") { server.log.contains("publish: name='key'") }
            let recording = folder.file("room.srr")
            let far = try host("far", ["--source", server.url, "--record", recording, "--rtsp", "0"])
            try far.waitForLog("sends H.264 of 320x240, and aac, which is converted to Opus")
            let played = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", try far.printed("Players of RTSP: "), "-map", "0", "-c", "copy",
                "-t", "8", folder.file("played.mkv"),
            ])
            #expect(played.status == .exited(0), "\(played.messages)")
            for host in [far, near] { #expect(host.stop() == .exited(0)) }

            let exported = folder.file("room.mkv")
            let export = try CommandLineRun(["screenrelay", "export", recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            let sound = try samples(of: exported)
            let flashes = try flashes(in: exported)
            let beeps = beeps(in: sound)
            #expect(flashes.count >= 2, "\(flashes)")
            for flash in flashes {
                #expect(beeps.contains { abs($0 - flash) < Self.tolerance }, "\(flash) in \(beeps)")
                let middle = Int((flash + 0.25) * 48_000)
                try #require(middle + 24_000 <= sound.count)
                let fit = ToneFit(440, in: Array(sound[middle..<middle + 24_000]))
                #expect(fit.amplitude > 0.1 && fit.signalToNoise > 20, "\(fit)")
            }
        }

        private func host(_ name: String, _ options: [String]) throws -> RunningProgram {
            let host = try RunningProgram.host("unix:" + folder.file(name), ["--log", "info"] + options)
            _ = try host.printedLink()
            return host
        }

        /// Makes a file of two minutes that is white and beeps in the first half of every two seconds.
        private func flashesAndBeeps() throws -> String {
            let path = folder.file("talk.mkv")
            let size = "\(Self.size.width)x\(Self.size.height)"
            let made = try FFmpeg.run([
                "-f", "lavfi", "-i",
                "color=black:size=\(size):rate=25,drawbox=color=white:t=fill:enable='lt(mod(t,2),1)'",
                "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)*lt(mod(t,2),1)':s=48000", "-t", "120",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "25",
                "-c:a", "libopus", path,
            ])
            try #require(made.status == .exited(0), "\(made.messages)")
            return path
        }

        /// When the file turns from black to white, in seconds, without its first two seconds, in which its audio may
        /// begin, and the last one.
        private func flashes(in file: String) throws -> [Double] {
            let times = try FFmpeg.frames(of: file).map(\.time)
            let decoded = try FFmpeg.decode(file, to: "gray")
            let count = Self.size.width * Self.size.height
            try #require(decoded.bytes.count == times.count * count, "\(decoded.messages)")
            let (first, last) = (try #require(times.first), try #require(times.last))
            let isWhite = times.indices.map { decoded.bytes[$0 * count + count / 2] > 128 }
            return times.indices.dropFirst().filter { isWhite[$0] && !isWhite[$0 - 1] }.map { times[$0] }
                .filter { $0 > first + 2 && $0 < last - 1 }
        }

        /// The file's audio from the time 0 on, in mono at 48 kHz, with silence where there is none.
        private func samples(of file: String) throws -> [Float] {
            let decoded = try FFmpeg.run([
                "-copyts", "-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-af",
                "aresample=async=1:first_pts=0", "-f", "f32le", "pipe:1",
            ])
            #expect(decoded.status == .exited(0), "\(decoded.messages)")
            return decoded.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        }

        /// When each beep begins after half a second of silence, in seconds.
        private func beeps(in samples: [Float]) -> [Double] {
            var found: [Double] = []
            var lastLoud = -1.0
            for (index, sample) in samples.enumerated() where abs(sample) > 0.1 {
                let time = Double(index) / 48_000
                if time - lastLoud > 0.5 { found.append(time) }
                lastLoud = time
            }
            return found
        }
    }
}
