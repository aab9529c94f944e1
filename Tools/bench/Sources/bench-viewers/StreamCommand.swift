import CBench
import Clocks
import CommandLine
import MediaTypes
import PictureTimeline
import Threading

/// `bench-viewers stream`: many players or pages whose video comes over TCP, in one thread.
enum StreamCommand {
    static let command = Command(
        name: "stream",
        summary: "Joins a room as many RTSP players, or as many pages that get the video over their WebSocket, in one "
            + "thread, and prints what they get.",
        options: [
            Option(
                long: "by", value: .required("WAY"),
                help: "how the video comes: over RTSP, interleaved with its requests, or over a WebSocket",
                default: "rtsp", choices: StreamWay.allCases.map(\.rawValue)),
            .viewers, .joinRate, .warmUp, .length,
            Option(
                long: "pause", value: .required("MS"),
                help: "sleep so many milliseconds between two looks at the sockets; 0: wait for data", default: "1"),
            .core,
            Option(
                long: "json",
                help: "print one JSON object per line: the event measuring, then measured, then result"),
        ],
        operands: Operands(
            name: "ADDRESS", count: 1...1,
            help: "rtsp://USER:PASSWORD@HOST:PORT/PATH, or for a WebSocket an invite link of a ScreenRelay host"),
        examples: [
            Example(
                "bench-viewers stream --by websocket -n 100 --core 1 'http://127.0.0.1:8080/#screen,TOKEN'",
                "A hundred pages behind a network that lets only HTTP through.")
        ])

    static func run(_ options: ParsedOptions) throws -> ExitCode {
        let text = options.operands.first ?? ""
        let way: StreamWay = try options.required("by", as: .choice)
        guard let address = way.address(text) else {
            throw UsageError("'\(text)': not an address for --by \(way.rawValue)")
        }
        let pause = try options.required("pause", as: .integer(0...50, what: "number of milliseconds"))
        let plan = Plan(
            address: address,
            viewers: try options.required("viewers", as: .integer(1...20_000, what: "number of viewers")),
            joinRate: try options.required("join-rate", as: .integer(1...10_000, what: "number of joins")),
            feedback: .reports, offersTransportFeedback: false, sample: 0,
            warmUp: try options.required("warm", as: .duration),
            length: try options.required("seconds", as: .duration), pause: .milliseconds(Int64(pause)))
        try options.pinThread()
        let isJSON = options.has("json")
        let results = try measure(plan, way) { event in
            if isJSON { StandardStreams.print("{\"event\": \"\(event)\"}\n") }
        }
        StandardStreams.print(isJSON ? results.json.text + "\n" : results.table)
        return results.failures.count == 0 ? .success : .unavailable
    }

    /// Lets all viewers join, and measures, as ``GenerateCommand`` does.
    private static func measure(_ plan: Plan, _ way: StreamWay, tell: (String) -> Void) throws -> Results {
        let loop = try StreamLoop(plan, way)
        let began = MonotonicTime.now()
        let threads = loop.joining.start()
        let ramp = Interval.seconds(Int64(plan.viewers / plan.joinRate + 30))
        loop.run(until: began + ramp) { loop.viewers.allSatisfy(\.isSettled) }
        let rampSeconds = (MonotonicTime.now() - began).seconds
        loop.joining.stop()
        loop.run(until: .now() + plan.warmUp)

        let before = (counters: loop.counters, cpu: cbench_cpu_time(), time: MonotonicTime.now())
        loop.table.isCounting = true
        tell("measuring")
        loop.run(until: before.time + plan.length)
        tell("measured")
        loop.table.isCounting = false
        let after = (counters: loop.counters, cpu: cbench_cpu_time(), time: MonotonicTime.now())

        // What is still on its way belongs to pictures that count.
        loop.run(until: .now() + .seconds(1))
        for viewer in loop.viewers { viewer.close() }
        for thread in threads { thread.join(until: .now() + .seconds(1)) }
        return Results(
            plan: plan, viewers: loop.viewers, pictures: loop.table.pictures,
            counters: after.counters - before.counters, rampSeconds: rampSeconds,
            seconds: (after.time - before.time).seconds, cpuTime: after.cpu - before.cpu)
    }
}
