import MediaTypes

/// A program that a ``CaptureSupervisor`` keeps running, and what its end means.
public struct SupervisedProgram: Sendable {
    /// The program's path.
    public var path: String
    /// Its arguments, without `--link`, which the supervisor adds.
    public var arguments: [String]
    /// More arguments until it has become the track's source.
    let firstArguments: [String]
    /// More arguments for an attempt after one that found nothing to capture: they suppress another report of that.
    let quietArguments: [String]
    /// Its name in log lines.
    let name: String
    /// Whether sharing makes no sense without it. If so, the supervisor gives up when another run would only fail
    /// again.
    let isNeeded: Bool
    /// The longest pause between two attempts of one that doesn't become the track's source.
    let maxPause: Interval

    /// A capture of pictures, without which there is nothing to share. `first` are more
    /// arguments until it has become the track's source.
    public static func capture(
        _ path: String, _ arguments: [String], first: [String] = []
    ) -> SupervisedProgram {
        SupervisedProgram(
            path: path, arguments: arguments, firstArguments: first, quietArguments: ["--again"], name: "capture",
            isNeeded: true, maxPause: .seconds(5))
    }

    /// A capture of sound. The pictures go on without it, so it is tried again whatever its end was, but less often, as
    /// each failure writes a line.
    public static func sound(_ path: String, _ arguments: [String]) -> SupervisedProgram {
        SupervisedProgram(
            path: path, arguments: arguments, firstArguments: [], quietArguments: [], name: "screenrelay-sound",
            isNeeded: false, maxPause: .seconds(30))
    }
}
