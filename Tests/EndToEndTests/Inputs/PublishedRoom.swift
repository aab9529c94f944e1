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

    /// What the host prints after these words.
    func printed(_ begin: String) throws -> String {
        try eventually("the line '\(begin)'") {
            // The last piece has no line feed yet.
            let lines = host.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return lines.first { $0.hasPrefix(begin) }.map { String($0.dropFirst(begin.count)) }
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
    func hasTone(_ samples: [Float]) -> Bool {
        stride(from: 24_000, through: samples.count - 24_000, by: 24_000).contains { start in
            let fit = ToneFit(440, in: Array(samples[start..<start + 24_000]))
            return fit.amplitude > 0.1 && fit.signalToNoise > 20
        }
    }
}
