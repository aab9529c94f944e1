import CBench
import Clocks
import CommandLine
import MediaTypes
import PictureTimeline
import Threading

/// `bench-viewers generate`: many viewers in one thread.
enum GenerateCommand {
    static let command = Command(
        name: "generate",
        summary: "Joins a room as many viewers over WHEP, in one thread, and prints what they get.",
        options: [
            .token, .viewers, .joinRate,
            Option(
                long: "feedback", value: .required("KIND"),
                help: "what viewers report: all that Chromium does, only receiver reports, or none",
                default: "all", choices: Plan.Feedback.allCases.map(\.rawValue)),
            Option(long: "no-offer", help: "offer no transport-wide feedback"),
            Option(
                long: "false-reports",
                help: "the receiver reports of one viewer always name the sequence number 0, as libdatachannel's do"),
            Option(
                long: "path", value: .required("PATH"),
                help: "the emulated network path to the viewers: loss=5%, rate=300k with a queue of 200 ms, or both "
                    + "with a comma. COUNT:PATH is the path of so many viewers, which are reported one by one; these "
                    + "can also be stalled (read and send nothing from the measurement on) or gone (their sockets are "
                    + "closed then)",
                repeats: true),
            Option(
                long: "sample", value: .required("COUNT"),
                help: "one viewer of so many decrypts all packets, and checks that they are authentic; 0: none. "
                    + "Without --phases, the pictures of the first such viewer are decoded once all have left",
                default: "50"),
            .warmUp, .length,
            Option(
                long: "phases",
                help: "measure when told, instead of for --seconds: each line of standard input begins a measurement "
                    + "or ends it, in turn, and the viewers leave at its end"),
            Option(
                long: "pause", value: .required("MS"),
                help: "sleep so many milliseconds between two looks at the sockets, so that the host needn't wake this "
                    + "program for each packet; 0: wait for packets",
                default: "1"),
            .core,
            Option(
                long: "json",
                help: "print one JSON object per line: the event measuring, then measured, then result; with --phases "
                    + "the event ready before them"),
        ],
        operands: .whepAddress,
        examples: [
            Example(
                "bench-viewers generate --viewers 100 --core 1 'http://127.0.0.1:8080/#screen,TOKEN'",
                "A hundred viewers of a host."),
            Example(
                "bench-viewers generate --viewers 300 --path 1:stalled --path 1:loss=10% http://127.0.0.1:8080/whep/x",
                "Whether two viewers disturb 298 others."),
        ])

    static func run(_ options: ParsedOptions) throws -> ExitCode {
        let address = try options.whepAddress()
        let pause = try options.required("pause", as: .integer(0...50, what: "number of milliseconds"))
        let viewers = try options.required("viewers", as: .integer(1...20_000, what: "number of viewers"))
        let paths = try options.values("path", as: .viewerPath)
        let ownPaths = paths.flatMap { [ViewerPath](repeating: $0.path, count: $0.count ?? 0) }
        guard ownPaths.count < viewers else {
            throw UsageError("--viewers \(viewers): there must be more viewers than paths of their own")
        }
        let sample = try options.required("sample", as: .integer(0...20_000, what: "number of viewers"))
        let plan = Plan(
            address: address, viewers: viewers,
            joinRate: try options.required("join-rate", as: .integer(1...10_000, what: "number of joins")),
            feedback: try options.required("feedback", as: .choice),
            offersTransportFeedback: !options.has("no-offer"), hasFalseReports: options.has("false-reports"),
            sample: sample,
            warmUp: try options.required("warm", as: .duration),
            length: try options.required("seconds", as: .duration), pause: .milliseconds(Int64(pause)),
            path: paths.last { $0.count == nil }?.path ?? ViewerPath(), ownPaths: ownPaths,
            decodes: sample > 0 && !options.has("phases"))
        try options.pinThread()
        let isJSON = options.has("json")
        var failureCount = 0
        try measure(plan, marks: options.has("phases") ? PhaseMarks() : nil) { event in
            if isJSON { StandardStreams.print("{\"event\": \"\(event)\"}\n") }
        } report: { results in
            failureCount = results.failures.count
            StandardStreams.print(isJSON ? results.json.text + "\n" : results.table)
        }
        return failureCount == 0 ? .success : .unavailable
    }

    /// Lets all viewers join, and measures once, or each phase that `marks` begins.
    ///
    /// - Parameters:
    ///   - tell: called with `ready` before the first phase, with `measuring` when a measurement begins, and with
    ///     `measured` when it is over.
    ///   - report: called with the results of each measurement.
    private static func measure(
        _ plan: Plan, marks: PhaseMarks?, tell: (String) -> Void, report: (Results) -> Void
    ) throws {
        let loop = try ViewerLoop(plan)
        let began = MonotonicTime.now()
        let threads = loop.joining.start()
        let ramp = Interval.seconds(Int64(plan.viewers / plan.joinRate + 30))
        loop.run(until: began + ramp) { loop.viewers.allSatisfy(\.isSettled) }
        let rampSeconds = (MonotonicTime.now() - began).seconds
        loop.joining.stop()
        loop.run(until: .now() + plan.warmUp)

        func leave() {
            for viewer in loop.viewers { viewer.close() }
            for thread in threads { thread.join(until: .now() + .seconds(1)) }
        }
        guard let marks else {
            var results = measureOnce(plan, loop, rampSeconds: rampSeconds, tell: tell) {
                loop.run(until: .now() + plan.length)
            }
            leave()
            results.decoding = try loop.rest.first?.pictures?.decode()
            return report(results)
        }
        tell("ready")
        while marks.wait(in: loop) {
            let results = measureOnce(plan, loop, rampSeconds: rampSeconds, tell: tell) { _ = marks.wait(in: loop) }
            report(results)
        }
        leave()
    }

    /// Measures while `run` lets the viewers watch.
    private static func measureOnce(
        _ plan: Plan, _ loop: ViewerLoop, rampSeconds: Double, tell: (String) -> Void, run: () -> Void
    ) -> Results {
        loop.applyFates()
        for viewer in loop.viewers { viewer.wholePictures = 0 }
        let before = (counters: loop.counters, odd: loop.odd, cpu: cbench_cpu_time(), time: MonotonicTime.now())
        loop.surroundings.table.startCounting()
        loop.rest.first?.pictures?.begin()
        tell("measuring")
        run()
        tell("measured")
        loop.surroundings.table.isCounting = false
        loop.rest.first?.pictures?.end()
        let after = (counters: loop.counters, odd: loop.odd, cpu: cbench_cpu_time(), time: MonotonicTime.now())

        // What is still on its way, or is repeated, belongs to pictures that count.
        loop.run(until: .now() + .seconds(1))
        return Results(
            plan: plan, viewers: loop.rest, pictures: loop.surroundings.table.pictures,
            counters: after.counters - before.counters, rampSeconds: rampSeconds,
            seconds: (after.time - before.time).seconds, cpuTime: after.cpu - before.cpu,
            odd: zip(before.odd, after.odd).map { $1.since($0) })
    }
}
