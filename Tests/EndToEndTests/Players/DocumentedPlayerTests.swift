import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Players as the guide has them", .enabled(if: EndToEnd.isPossible && FFmpeg.isAvailable))
    struct DocumentedPlayers {
        /// The lines of the guide that begin with the name of a player, and have a URL.
        private func commands() throws -> [String] {
            let guide = String(decoding: try fileBytes(packageRoot + "/Documentation/watching.md"), as: UTF8.self)
            let players = ["ffplay", "mpv", "gst-launch-1.0", "ffmpeg"]
            return guide.split(separator: "\n").map(String.init).filter { line in
                line.contains("rtsp://") && players.contains { line.hasPrefix($0 + " ") }
            }
        }

        @Test(
            "each shows the screen within seconds of its start, over UDP and over the connection",
            arguments: ["moving", "still", "silent"])
        func shown(_ kind: String) throws {
            let folder = try TemporaryFolder()
            // Sound is announced, but nothing plays.
            let isSilent = kind == "silent" && PulseServer.isAvailable
            let pulse = isSilent ? try PulseServer(in: folder) : nil
            defer { withExtendedLifetime(pulse) {} }
            let desktop = try SharedDesktop(
                scene: kind == "moving" ? [] : ["--still"],
                options: ["--rtsp", "0", "--open"] + (isSilent ? ["--sound", "desktop"] : []),
                prefix: pulse.map { ["env", "PULSE_SERVER=\($0.address)"] } ?? [])
            if isSilent { try desktop.host.waitForLog("the sound is live") }
            let begin = "Players of RTSP: "
            let line = try #require(desktop.host.output.split(separator: "\n").first { $0.hasPrefix(begin) })
            let url = String(line.dropFirst(begin.count))
            let commands = try commands()
            try #require(commands.contains { $0.hasPrefix("ffplay ") } && commands.contains { $0.hasPrefix("mpv ") })
            for command in commands {
                try show(command.split(separator: " ").map { $0.hasPrefix("rtsp://") ? url : String($0) })
            }
            // What FFmpeg's players do where UDP is blocked.
            let first = try #require(commands.first { $0.hasPrefix("ffplay ") }).split(separator: " ")
            try show(["ffplay", "-rtsp_transport", "tcp"] + first.dropFirst().dropLast().map(String.init) + [url])
        }

        /// Runs a player until its window isn't black any more.
        private func show(_ words: [String]) throws {
            try #require(ProgramLookup.path(of: words[0]) != nil, "\(words[0]) is missing; see Tools/setup")
            let folder = try TemporaryFolder()
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            var launch = Launch(words[0], Array(words.dropFirst()))
            launch.environment = [
                "DISPLAY": screen.name, "HOME": folder.path, "SDL_AUDIODRIVER": "dummy", "WAYLAND_DISPLAY": nil,
            ]
            launch.standardOutput = .text(limit: 1 << 16)
            launch.standardError = .text(limit: 1 << 20)
            let player = try ChildProcess(launch)
            defer { player.stop(within: .zero) }
            // Less than 2 s on a machine that has nothing else to do.
            try eventually("a picture of \(words.joined(separator: " "))", within: .seconds(10)) {
                let grabbed = try FFmpeg.grab(display: screen.name, width: 640, height: 480).bytes
                // More than a window that hasn't painted anything, or a line of text, would have.
                return grabbed.count { $0 > 40 } > grabbed.count / 5
            }
        }
    }
}
