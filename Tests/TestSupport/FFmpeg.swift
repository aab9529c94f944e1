public import Processes

/// The `ffmpeg` command, as a judge of our streams that knows nothing of our code.
public enum FFmpeg {
    /// What one run gave.
    public struct Result: Sendable {
        /// How it ended; nil when it had to be killed at its time limit.
        public let status: ProcessStatus?
        /// What it wrote to standard output: decoded pictures, if asked for.
        public let bytes: [UInt8]
        /// What it said; with `-v error`, nothing when nothing was wrong.
        public let messages: String
    }

    /// Whether ffmpeg is installed.
    public static var isAvailable: Bool { ProgramLookup.path(of: "ffmpeg") != nil }

    /// Runs ffmpeg with errors and warnings shown alone, and gives its standard output up to `limit` bytes.
    public static func run(
        _ arguments: [String], limit: Int = 256 << 20, within time: Duration = .seconds(60)
    ) throws -> Result {
        var launch = Launch("ffmpeg", ["-hide_banner", "-nostdin", "-v", "warning"] + arguments)
        launch.standardOutput = .text(limit: limit)
        launch.standardError = .text(limit: 1 << 20)
        let child = try ChildProcess(launch)
        var status = child.wait(within: time)
        if status == nil {
            child.stop(within: .zero)
        } else if child.output?.waitForEnd(within: time) == false {
            status = nil
        }
        // What is cut off could be the very line that tells of a fault.
        if child.errorOutput?.waitForEnd(within: .seconds(10)) == false {
            throw DeadlineMissed(what: "the end of what ffmpeg says")
        }
        return Result(status: status, bytes: child.output?.bytes ?? [], messages: child.errorOutput?.text ?? "")
    }

    /// Decodes a file to raw pictures, one behind the other: three bytes a pixel as `rgb24`, or whichever pixel format
    /// FFmpeg has a name for (`yuv420p`). `input` are options in front of the file: `["-f", "h264"]`.
    public static func decode(
        _ path: String, to pixelFormat: String = "rgb24", input: [String] = []
    ) throws -> Result {
        try run(
            input + [
                "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixelFormat,
                "pipe:1",
            ])
    }

    /// One picture of an X display's screen as rgb24, grabbed by FFmpeg itself.
    public static func grab(display: String, width: Int, height: Int) throws -> Result {
        try run([
            "-f", "x11grab", "-draw_mouse", "0", "-video_size", "\(width)x\(height)", "-i", display, "-frames:v", "1",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1",
        ])
    }
}
