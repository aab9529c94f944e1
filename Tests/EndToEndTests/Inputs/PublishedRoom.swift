import BrowserDriver
import Processes
import TestSupport
import Testing

/// A host without a capture, into whose room programs publish.
final class PublishedRoom {
    let folder: TemporaryFolder
    let host: RunningProgram
    let link: String
    /// `http://HOST:PORT`, and the presenters' token.
    let address: String
    let token: String

    /// Starts the host with these options, inside `network` if there is one, where it has the media port
    /// ``LossyNetwork/mediaPort``; `isRecorded` says whether it records the room.
    init(_ options: [String] = [], isRecorded: Bool = false, inside network: LossyNetwork? = nil) throws {
        folder = try TemporaryFolder()
        let recording = isRecorded ? ["--record", folder.file("room.srr")] : []
        let port = network == nil ? 0 : LossyNetwork.mediaPort
        host = try RunningProgram(
            "screenrelay",
            ["host", "--link", "unix:" + folder.file("s.sock"), "--listen", "127.0.0.1:0", "--udp-port", "\(port)"]
                + ["--log", "debug", "--presenters"] + recording + options, prefix: network?.prefix ?? [])
        link = try host.printedLink()
        address = String(link.split(separator: "#", maxSplits: 1).first?.dropLast() ?? "")
        token = try host.presentersToken()
    }

    /// The recording's path.
    var recording: String { folder.file("room.srr") }

    /// Starts FFmpeg, which publishes 320x240 pixels at 25 fps and a tone of 440 Hz as H.264, with these options of the
    /// encoder, and AAC, with the format and the address in `output`.
    static func publish(_ encoder: [String], to output: [String]) throws -> ChildProcess {
        let input = [
            "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
            "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000",
        ]
        let video = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "25"] + encoder
        var launch = Launch("ffmpeg", input + video + ["-c:a", "aac", "-b:a", "128k"] + output)
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    /// Expects pictures and a tone from a publisher at an RTSP player over this transport; then ends the publisher and
    /// the host, and expects them in the recording.
    func expectPlayedAndRecorded(_ sender: ChildProcess, over transport: String) throws {
        try expectPlayed(host.printed("Players of RTSP: "), over: transport)
        sender.stop(within: .zero)
        try host.waitForLog("has left screen/screen")
        #expect(host.occurrences(of: token) == 0)
        try expectRecorded()
    }

    /// Expects pictures and a tone at an RTSP player of `address` over this transport.
    func expectPlayed(_ address: String, over transport: String) throws {
        let read = folder.file("rtsp.mkv")
        let copied = try FFmpeg.run([
            "-rtsp_transport", transport, "-i", address, "-map", "0", "-c", "copy", "-t", "3", read,
        ])
        #expect(copied.status == .exited(0), "\(copied.messages)")
        try expectPicturesAndTone(in: read)
    }

    /// Ends the host, and expects pictures and a tone in its recording, or in the one at `path`.
    func expectRecorded(in path: String? = nil) throws {
        #expect(host.stop() == .exited(0))
        let exported = folder.file("room.mkv")
        let export = try CommandLineRun(["screenrelay", "export", path ?? recording, "-o", exported])
        #expect(export.status == .exited(0), "\(export.errorOutput)")
        try expectPicturesAndTone(in: exported)
    }

    /// Waits for a tone of 440 Hz in a file that `whep_player.py` writes.
    func waitForTone(in file: String) throws {
        try eventually("the tone at the player") {
            let bytes = try fileBytes(file)
            let left = bytes.withUnsafeBytes { raw in
                stride(from: 0, to: raw.count / 4 * 4, by: 4).map {
                    Float(raw.loadUnaligned(fromByteOffset: $0, as: Int16.self)) / 32768
                }
            }
            return hasTone(left) ? () : nil
        }
    }

    /// Expects pictures and a tone of 440 Hz in a file.
    func expectPicturesAndTone(in file: String) throws {
        let pictures = try FFmpeg.decode(file, to: "gray")
        #expect(pictures.bytes.count >= 10 * 320 * 240, "\(pictures.messages)")
        let sound = try FFmpeg.run(["-i", file, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "pipe:1"])
        #expect(sound.status == .exited(0), "\(sound.messages)")
        let samples = sound.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(hasTone(samples), "\(samples.count) samples in \(file)")
    }

    /// Whether half a second of `samples`, some way behind their beginning, is a tone of 440 Hz and hardly anything
    /// else.
    private func hasTone(_ samples: [Float]) -> Bool {
        stride(from: 24_000, through: samples.count - 24_000, by: 24_000).contains { start in
            let fit = ToneFit(440, in: Array(samples[start..<start + 24_000]))
            return fit.amplitude > 0.1 && fit.signalToNoise > 20
        }
    }
}

extension ViewerPage {
    /// The frequency that is loudest in what the page gets.
    private static let loudest = """
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

    /// Turns the page's sound on, and waits for a tone of 440 Hz.
    func waitForTone() throws {
        try page.evaluate(Self.loudest)
        try page.waitUntil("document.getElementById('listen')?.checkVisibility()")
        try page.evaluate("document.getElementById('listen').click()")
        try page.waitUntil("screenRelay.isListening && screenRelay.audioLevel > 0.01")
        try eventually("the tone on the page") {
            let loudest = try page.evaluate("window.loudest()", within: .seconds(10))
            let isTone = abs((loudest["hertz"].number ?? 0) - 440) < 3
            return isTone && loudest["level"].number ?? -100 > -40 ? () : nil
        }
    }
}
