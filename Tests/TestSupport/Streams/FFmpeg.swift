public import Processes

/// The `ffmpeg` command, which judges our streams independently of our code.
public enum FFmpeg {
    /// The result of one run.
    public struct Result: Sendable {
        /// How it ended; nil if it had to be killed at its time limit.
        public let status: ProcessStatus?
        /// What it wrote to standard output: decoded pictures, if they were asked for.
        public let bytes: [UInt8]
        /// What it wrote to standard error; with `-v error`, this is empty if nothing was wrong.
        public let messages: String

        /// What it complains of, but for pictures that come sooner after one another than its output's clock can tell.
        public var faults: [Substring] {
            messages.split(separator: "\n").filter {
                !$0.contains("non monotonically increasing dts to muxer") && !$0.contains("Last message repeated")
            }
        }
    }

    /// Whether ffmpeg is installed.
    public static var isAvailable: Bool { ProgramLookup.path(of: "ffmpeg") != nil }

    /// Runs ffmpeg so that it prints only errors and warnings, and returns up to `limit` bytes of its standard output.
    /// Calls `meanwhile` twenty times a second until it ends.
    public static func run(
        _ arguments: [String], limit: Int = 256 << 20, within time: Duration = .seconds(60),
        meanwhile: (() -> Void)? = nil
    ) throws -> Result {
        var launch = Launch("ffmpeg", ["-hide_banner", "-nostdin", "-v", "warning"] + arguments)
        launch.standardOutput = .text(limit: limit)
        launch.standardError = .text(limit: 1 << 20)
        let child = try ChildProcess(launch)
        let end = ContinuousClock.now + time
        var status = child.wait(within: meanwhile == nil ? time : .milliseconds(50))
        while status == nil, let meanwhile, ContinuousClock.now < end {
            meanwhile()
            status = child.wait(within: .milliseconds(50))
        }
        if status == nil {
            child.stop(within: .zero)
        } else if child.output?.waitForEnd(within: time) == false {
            status = nil
        }
        // If the messages were cut off, the very line that reports a fault could be missing.
        if child.errorOutput?.waitForEnd(within: .seconds(10)) == false {
            throw DeadlineMissed(what: "the end of what ffmpeg says")
        }
        return Result(status: status, bytes: child.output?.bytes ?? [], messages: child.errorOutput?.text ?? "")
    }

    /// Decodes a file to raw pictures, one after another: three bytes a pixel as `rgb24`, or in any other pixel format
    /// that FFmpeg has a name for (`yuv420p`). `input` holds options in front of the file: `["-f", "h264"]`.
    public static func decode(
        _ path: String, to pixelFormat: String = "rgb24", input: [String] = []
    ) throws -> Result {
        try run(
            input + [
                "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixelFormat,
                "pipe:1",
            ])
    }

    /// The frames of a file's video, by ffprobe: when each is shown, in seconds, and whether it is a key frame. The
    /// file may still be written.
    public static func frames(of path: String) throws -> [(time: Double, isKeyFrame: Bool)] {
        var launch = Launch(
            "ffprobe",
            [
                "-v", "quiet", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0",
                path,
            ])
        launch.standardOutput = .text(limit: 1 << 20)
        return try ChildProcess.run(launch, within: .seconds(90)).output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: ",")
            guard words.count >= 2, let time = Double(words[0]) else { return nil }
            return (time, words[1].contains("K"))
        }
    }

    /// Grabs one picture of an X display's screen as rgb24, with FFmpeg's own code.
    public static func grab(display: String, width: Int, height: Int) throws -> Result {
        try run([
            "-f", "x11grab", "-draw_mouse", "0", "-video_size", "\(width)x\(height)", "-i", display, "-frames:v", "1",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1",
        ])
    }
}
