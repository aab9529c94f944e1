import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Publishers send a tone beside their pictures, and it is measured at each way out.
    @Suite(
        "The sound of WHIP publishers",
        .enabled(if: EndToEnd.hasBrowser && PythonClient.isAvailable && FFmpeg.isAvailable))
    struct WHIPSoundTests {
        private static let hertz = 440

        /// The frequency that is loudest in what the page gets.
        static let loudest = """
            window.loudest = async () => {
              const context = new AudioContext();
              try {
                const analyser = new AnalyserNode(context, { fftSize: 32768, smoothingTimeConstant: 0 });
                context.createMediaStreamSource(document.getElementById('video').srcObject).connect(analyser);
                await new Promise((resolve) => { setTimeout(resolve, 900); });
                const levels = new Float32Array(analyser.frequencyBinCount);
                analyser.getFloatFrequencyData(levels);
                const peak = levels.reduce((best, level, index) => (level > levels[best] ? index : best), 0);
                return { hertz: peak * context.sampleRate / analyser.fftSize, level: levels[peak] };
              } finally {
                await context.close();
              }
            };
            """

        /// Whether half a second of `samples`, some way behind their beginning, is the tone and hardly anything else.
        private func hasTone(_ samples: [Float]) -> Bool {
            stride(from: 24_000, through: samples.count - 24_000, by: 24_000).contains { start in
                let fit = ToneFit(Double(Self.hertz), in: Array(samples[start..<start + 24_000]))
                return fit.amplitude > 0.1 && fit.signalToNoise > 20
            }
        }

        /// Expects pictures and the tone in a file.
        private func expectPicturesAndTone(in file: String) throws {
            let pictures = try FFmpeg.decode(file, to: "gray")
            #expect(pictures.bytes.count >= 10 * 320 * 240, "\(pictures.messages)")
            let sound = try FFmpeg.run([
                "-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "pipe:1",
            ])
            #expect(sound.status == .exited(0), "\(sound.messages)")
            let samples = sound.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            #expect(hasTone(samples), "\(samples.count) samples in \(file)")
        }

        private func start(_ client: String, in room: PublishedRoom) throws -> PythonClient {
            let publisher = try PythonClient(
                client, in: client == "whip_gstreamer" ? .debian : .rtc,
                [room.address + "/whip/screen", room.token, "--tone", "\(Self.hertz)"])
            try publisher.event("connected")
            return publisher
        }

        @Test(
            "is heard beside the pictures on the page, by a WHEP player, by RTSP and in the recording",
            .timeLimit(.minutes(5)),
            arguments: ["whip_publisher", "whip_ffmpeg"] + (PythonClient.hasGStreamer ? ["whip_gstreamer"] : []))
        func heard(client: String) throws {
            let room = try PublishedRoom(["--rtsp", "0"], isRecorded: true)
            let publisher = try start(client, in: room)

            let heard = room.folder.file("player.pcm")
            let player = try PythonClient(
                "whep_player", in: .rtc, ["\(room.address)/whep/screen", "--token", room.token, "--sound", heard])
            try player.event("frame")

            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.page.evaluate(Self.loudest)
            try viewer.page.waitUntil("document.getElementById('listen')?.checkVisibility()")
            try viewer.page.evaluate("document.getElementById('listen').click()")
            try viewer.page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
            try eventually("the tone on the page") {
                let loudest = try viewer.page.evaluate("window.loudest()", within: .seconds(10))
                let isTone = abs((loudest["hertz"].number ?? 0) - Double(Self.hertz)) < 3
                return isTone && loudest["level"].number ?? -100 > -40 ? () : nil
            }

            try eventually("the tone at the player") {
                let bytes = try fileBytes(heard)
                let left = bytes.withUnsafeBytes { raw in
                    stride(from: 0, to: raw.count / 4 * 4, by: 4).map {
                        Float(raw.loadUnaligned(fromByteOffset: $0, as: Int16.self)) / 32768
                    }
                }
                return hasTone(left) ? () : nil
            }

            let begin = "Players of RTSP: "
            let line = try #require(room.host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let read = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", String(line.dropFirst(begin.count)), "-map", "0", "-c", "copy", "-t",
                "3",
                read,
            ])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            try expectPicturesAndTone(in: read)

            try publisher.tell("leave")
            try publisher.event("left")
            #expect(room.host.stop() == .exited(0))
            let exported = room.folder.file("room.mkv")
            let export = try CommandLineRun(["screenrelay", "export", room.recording, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            try expectPicturesAndTone(in: exported)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}
