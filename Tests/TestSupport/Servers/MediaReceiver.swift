import MediaTypes
public import Processes

/// FFmpeg as a server for one sender, which writes what it gets to a file.
public final class MediaReceiver {
    /// How it is sent to.
    public enum Transport: String, CaseIterable, Sendable {
        case rtmp, srt, rtsp
    }

    /// Where to send.
    public let url: String
    /// The Matroska file.
    public let file: String
    public let process: ChildProcess

    /// Starts the server, and waits until it listens. SRT is encrypted if there is a passphrase.
    public init(
        _ transport: Transport, port: UInt16, in folder: TemporaryFolder, host: String = "127.0.0.1",
        passphrase: String? = nil
    ) throws {
        let secret = passphrase.map { "passphrase=\($0)" }
        url =
            switch transport {
            case .rtmp: "rtmp://\(host):\(port)/live/key"
            case .srt: "srt://\(host):\(port)" + (secret.map { "?\($0)" } ?? "")
            case .rtsp: "rtsp://\(host):\(port)/live"
            }
        file = folder.file("received-\(port)-\(now().nanoseconds).mkv")
        let input =
            switch transport {
            case .rtmp: ["-listen", "1", "-i", url]
            case .srt: ["-i", "srt://\(host):\(port)?mode=listener" + (secret.map { "&\($0)" } ?? "")]
            case .rtsp: ["-rtsp_flags", "listen", "-i", url]
            }
        // FFmpeg 7.1 takes no frame of AAC that comes by RTP, its own neither, for a key frame, and waits for one.
        let output = ["-c", "copy", "-copyinkf:a", "-f", "matroska", file]
        var launch = Launch("ffmpeg", ["-hide_banner", "-nostdin", "-v", "error"] + input + output)
        launch.standardError = .text(limit: 1 << 16)
        process = try ChildProcess(launch)
        let table = (transport == .srt ? "/proc/net/udp" : "/proc/net/tcp") + (host.hasPrefix("[") ? "6" : "")
        try eventually("ffmpeg listens") { try Self.isBound(port, in: table) }
    }

    deinit { process.stop(within: .zero) }

    /// Whether a socket without a peer has the port (proc(5)).
    static func isBound(_ port: UInt16, in table: String) throws -> Bool {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let place = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        return String(decoding: try fileBytes(table), as: UTF8.self).split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[1].hasSuffix(place) && words[2].hasSuffix(":0000")
        }
    }
}
