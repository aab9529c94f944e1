import Glibc
import H264
import Ingest
import LinkTransport
import MediaTypes
import Processes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Sound that players play by RTSP", .serialized)
struct RTSPPlayerSoundTests {
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: LoopedPictures
    private let folder: TemporaryFolder
    private let link: LinkServer
    private let server: RTSPServer
    private let url: String

    init() throws {
        var configuration = HostConfiguration()
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        folder = try TemporaryFolder()
        link = try host.firstTrack.openLink(at: .unix(path: folder.file("link.sock")))
        pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0))
        url = "rtsp://127.0.0.1:\(server.address.port)/screen"
        #expect(host.firstTrack.publish(track))
    }

    @Test(
        "mpv and GStreamer play the tone at its full rate, and so does a player of FFmpeg's that isn't known by name",
        .enabled(if: FFmpeg.isAvailable), arguments: Player.allCases)
    func players(_ player: Player) throws {
        defer {
            link.stop()
            host.stop()
        }
        try #require(ProgramLookup.path(of: player.program) != nil, "\(player.program) is missing; see Tools/setup")
        let tone = try RunningTone(folder.file("link.sock"))
        defer { withExtendedLifetime(tone) {} }
        try eventually("the sound") { host.firstTrack.soundState == .live }
        let heard = folder.file("heard.raw")
        var launch = Launch(player.program, player.arguments(url: url, file: heard))
        launch.environment = ["HOME": folder.path]
        (launch.standardOutput, launch.standardError) = (.null, .text(limit: 1 << 16))
        let child = try ChildProcess(launch)
        defer { child.stop(within: .zero) }
        // Of one channel of 32 bits.
        var bytes: [UInt8] = []
        try eventually("two seconds of sound: \(child.errorOutput?.text ?? "")") {
            track.write(pictures.next())
            poll(nil, 0, 30)
            bytes = (try? fileBytes(heard)) ?? []
            return bytes.count > 2 * 48_000 * 4
        }
        child.stop(within: .seconds(3))
        let samples = bytes.prefix(bytes.count / 4 * 4).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let fit = ToneFit(440, in: Array(samples.suffix(24_000)))
        // PCMU has 38 dB at best; Opus of this rate has far more. Each player has a loudness of its own.
        #expect(fit.signalToNoise > 45 && (0.3...0.8).contains(fit.amplitude), "\(fit)")
        try eventually("nobody listens") { host.firstTrack.listeners == 0 }
    }

    /// A player, and how it writes what it hears as samples of one channel at 48 kHz.
    enum Player: CaseIterable {
        case mpv, gstreamer, unknown

        var program: String {
            switch self {
            case .mpv: "mpv"
            case .gstreamer: "gst-launch-1.0"
            case .unknown: "ffmpeg"
            }
        }

        func arguments(url: String, file: String) -> [String] {
            switch self {
            case .mpv:
                [
                    "--no-config", "--vo=null", "--ao=pcm", "--ao-pcm-file=\(file)", "--ao-pcm-waveheader=no",
                    "--audio-samplerate=48000", "--audio-channels=mono", "--audio-format=float", url,
                ]
            case .gstreamer:
                // GStreamer 1.26 ends if frames arrive before another stream is linked, so they have a sink. The
                // filters are elements: for caps between two elements, gst-launch links a new filter to the second one
                // whenever a stream appears, before it knows whether the stream has these caps. If the other stream
                // appears at that moment, it can't be linked, and never is.
                [
                    "-q", "rtspsrc", "name=source", "location=\(url)", "source.", "!", "capsfilter",
                    "caps=application/x-rtp,media=video", "!", "fakesink", "async=false", "source.", "!", "capsfilter",
                    "caps=application/x-rtp,media=audio", "!", "decodebin", "!", "audioconvert", "!", "audioresample",
                    "!", "audio/x-raw,format=F32LE,rate=48000,channels=1", "!", "filesink", "buffer-mode=2",
                    "location=\(file)",
                ]
            case .unknown:
                [
                    "-hide_banner", "-nostdin", "-v", "error", "-user_agent", "a player", "-i", url, "-map", "0:a:0",
                    "-af", "pan=mono|c0=c0", "-ar", "48000", "-f", "f32le", "-flush_packets", "1", file,
                ]
            }
        }
    }
}
