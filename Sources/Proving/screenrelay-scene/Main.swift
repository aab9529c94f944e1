import CommandLine
import Glibc
import TestScene

/// Shows a scene on an X display, for tests and demonstrations of screen sharing.
@main
enum SceneProgram {
    private static let program = "screenrelay-scene"

    private static let command = Command(
        name: "",
        summary: "Shows a moving picture over the whole of an X display, as something to share. "
            + "Prints 'ready' when it is drawn, and stays until it is ended by a signal.",
        options: [
            Option(
                long: "display", short: "d", value: .required("NAME"), help: "the X display, as ':7'; DISPLAY otherwise"
            ),
            Option(
                long: "scene", short: "s", value: .required("SCENE"),
                help: "patches (known colours and a readable counter) or desktop (to look at)", default: "desktop"),
            Option(
                long: "fps", short: "r", value: .required("RATE"), help: "pictures a second, 1 to 120", default: "30"),
            Option(long: "still", help: "draw one picture and nothing more"),
            Option(
                long: "frames", short: "n", value: .required("COUNT"),
                help: "stand still after this many pictures; without it the scene moves for good"),
        ],
        examples: [
            Example("screenrelay-scene --display :7 --scene patches --fps 60", "a picture that a program can check")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let kind: SceneKind = try options.required("scene", as: .choice)
        let rate = try options.required("fps", as: .frameRate)
        let limit = try options.value("frames", as: .integer(1...1_000_000_000, what: "number of pictures"))
        let frames = options.has("still") ? 1 : limit ?? .max
        let window = try SceneWindow(display: options.value("display"), kind: kind, ticksPerSecond: rate)
        guard StandardStreams.print("ready\n") else { return .system }

        var next = ContinuousClock.now
        let step = Duration.seconds(1) / rate
        for tick in 1..<max(frames, 1) {
            next = next.advanced(by: step)
            // After a long stall (a suspended machine) go on from now instead of catching up.
            if ContinuousClock.now - next > .seconds(1) { next = ContinuousClock.now }
            pause(until: next)
            try window.show(tick: tick)
        }
        while true {
            pause(until: ContinuousClock.now.advanced(by: .milliseconds(250)))
            try window.settle()
        }
    }

    private static func pause(until instant: ContinuousClock.Instant) {
        let left = instant - ContinuousClock.now
        guard left > .zero else { return }
        let (seconds, attoseconds) = left.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }
}
