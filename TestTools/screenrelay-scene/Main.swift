import CommandLine
import Glibc
import TestScene

/// Shows a scene on an X display, for tests, measurements and demonstrations of screen sharing.
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
                help: "patches (known colours and a readable counter), desktop (to look at), or one to measure on: "
                    + "idle, pointer, typing, scroll, drag, video, full, flick, red", default: "desktop"),
            Option(
                long: "fps", short: "r", value: .required("RATE"), help: "pictures a second, 1 to 120", default: "30"),
            Option(long: "still", help: "draw one picture and nothing more"),
            Option(
                long: "frames", short: "n", value: .required("COUNT"),
                help: "stand still after this many pictures; without it the scene moves for good"),
            Option(
                long: "start-on-line",
                help: "move only when a line comes on standard input, and print 'started' and 'stopped', each with the "
                    + "time of CLOCK_MONOTONIC in nanoseconds"),
            Option(
                long: "size", value: .required("WxH"), help: "for what follows: the size of the screen",
                default: "1920x1080"),
            Option(
                long: "dump", value: .required("TICKS"),
                help:
                    "write the pictures of these ticks, for example 0,3,10, as raw RGB to standard output; no display "
                    + "is used"
            ),
            Option(long: "text", value: .required("TICK"), help: "print the words that the picture of this tick shows"),
            Option(long: "facts", help: "print where things are in the scene"),
        ],
        examples: [
            Example("screenrelay-scene --display :7 --scene patches --fps 60", "a picture that a program can check")
        ])

    static func main() { exit(command.run(program, run)) }

    private static func run(_ options: ParsedOptions) throws -> ExitCode {
        let kind: SceneKind = try options.required("scene", as: .choice)
        let rate = try options.required("fps", as: .frameRate)
        if let result = try output(options, kind, rate) { return result ? .success : .system }
        let limit = try options.value("frames", as: .integer(1...1_000_000_000, what: "number of pictures"))
        let frames = options.has("still") ? 1 : limit ?? .max
        let window = try SceneWindow(display: options.value("display"), kind: kind, ticksPerSecond: rate)
        guard StandardStreams.print("ready\n") else { return .system }

        let isAnnounced = options.has("start-on-line")
        // The end of standard input starts nothing: the program that was to start the scene is gone.
        if isAnnounced, readLine() == nil { return .success }
        if isAnnounced, !announce("started") { return .system }
        var next = ContinuousClock.now
        let step = Duration.seconds(1) / rate
        for tick in 1..<max(frames, 1) {
            next = next.advanced(by: step)
            // After a long stall (a suspended machine) go on from now instead of catching up.
            if ContinuousClock.now - next > .seconds(1) { next = ContinuousClock.now }
            pause(until: next)
            try window.show(tick: tick)
        }
        if isAnnounced, !announce("stopped") { return .system }
        while true {
            pause(until: ContinuousClock.now.advanced(by: .milliseconds(250)))
            try window.settle()
        }
    }

    /// Writes what the options ask for; returns whether that succeeded, or nil if the options ask for a window.
    private static func output(_ options: ParsedOptions, _ kind: SceneKind, _ rate: Int) throws -> Bool? {
        let ticks = try options.value("dump", as: .ticks)
        let textTick = try options.value("text", as: .integer(0...1_000_000_000, what: "tick"))
        guard ticks != nil || textTick != nil || options.has("facts") else { return nil }
        let (width, height) = try options.required("size", as: .sceneSize)
        let output = SceneOutput(scene: kind.scene(width: width, height: height, ticksPerSecond: rate))
        if let ticks { return output.writePictures(ticks) }
        if let textTick { return output.writeText(textTick) }
        return output.writeFacts()
    }

    private static func announce(_ word: String) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return StandardStreams.print("\(word) \(now.tv_sec * 1_000_000_000 + now.tv_nsec)\n")
    }

    private static func pause(until instant: ContinuousClock.Instant) {
        let left = instant - ContinuousClock.now
        guard left > .zero else { return }
        let (seconds, attoseconds) = left.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }
}

extension ValueFormat where Value == [Int] {
    /// A list of ticks, such as "0,3,10".
    static var ticks: ValueFormat<[Int]> {
        ValueFormat(orProblem: "not ticks; write them like 0,3,10") { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            let ticks = parts.compactMap { Int($0) }.filter { $0 >= 0 }
            return ticks.count == parts.count ? ticks : nil
        }
    }
}

extension ValueFormat where Value == (Int, Int) {
    /// A width and a height, such as "1920x1080".
    static var sceneSize: ValueFormat<(Int, Int)> {
        ValueFormat(orProblem: "not a size; write it like 1920x1080, from 320 to 8192 pixels a side") { text in
            let sides = text.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides.allSatisfy({ (320...8192).contains($0) }) else { return nil }
            return (sides[0], sides[1])
        }
    }
}
