import ByteCoding
import CommandLine
import MediaTypes

/// `bench-viewers floor`: what sending costs at least.
enum FloorCommand {
    static let command = Command(
        name: "floor",
        summary: "Encrypts packets with AES-GCM and sends each with sendto, or a picture's packets with UDP_SEGMENT, "
            + "over loopback, and prints the CPU time for a packet.",
        options: [
            Option(
                long: "viewers", short: "n", value: .required("COUNT"), help: "the number of readers", default: "100"),
            Option(
                long: "size", value: .required("BYTES"), help: "the size of a packet, encrypted", default: "960"),
            Option(
                long: "packets-per-picture", value: .required("NUMBER"),
                help: "the mean number of packets that a reader gets in a row", default: "2.6"),
            Option(
                long: "seconds", short: "s", value: .required("TIME"), help: "the time for each kind of sending",
                default: "2s"),
            Option(long: "unconnected", help: "don't connect the readers' sockets"),
            Option(
                long: "pause", value: .required("MS"),
                help: "the readers' thread sleeps so many milliseconds between two looks at its sockets; 0: it waits "
                    + "for packets",
                default: "1"),
            Option(long: "core", value: .required("NUMBER"), help: "read only on this processor"),
            Option(long: "sender-core", value: .required("NUMBER"), help: "send only on this processor"),
            Option(long: "json", help: "print a JSON object"),
        ],
        examples: [
            Example("bench-viewers floor --viewers 1000 --core 1 --sender-core 0", "A thousand readers.")
        ])

    static func run(_ options: ParsedOptions) throws -> ExitCode {
        let pause = try options.required("pause", as: .integer(0...50, what: "number of milliseconds"))
        let settings = Floor.Settings(
            readers: try options.required("viewers", as: .integer(1...20_000, what: "number of readers")),
            size: try options.required("size", as: .integer(64...1472, what: "size")),
            packetsPerPicture: try options.required("packets-per-picture", as: .packetsPerPicture),
            length: try options.required("seconds", as: .duration), areConnected: !options.has("unconnected"),
            readingCore: try options.value("core", as: .integer(0...1023, what: "processor")),
            sendingCore: try options.value("sender-core", as: .integer(0...1023, what: "processor")),
            pause: .milliseconds(Int64(pause)))
        let figures = try Floor(settings).measure()
        guard options.has("json") else {
            func number(_ value: Double) -> String { DecimalText.fixed(value, digits: 3) }
            var table = TextTable()
            table.add(["readers", "\(settings.readers), packets of \(settings.size) bytes"])
            table.add(["AES-GCM", "\(number(figures.encryption)) µs per packet"])
            table.add(["AES-GCM and sendto", "\(number(figures.sendto)) µs per packet"])
            table.add(["AES-GCM and UDP_SEGMENT", "\(number(figures.segmented)) µs per packet"])
            table.add(["no room at the readers", "\(number(figures.dropped)) %"])
            StandardStreams.print(table.text)
            return .success
        }
        var fields = JSONFields()
        fields.add("event", text: "floor")
        fields.add("viewers", settings.readers)
        fields.add("size", settings.size)
        fields.add("encryption_us", figures.encryption)
        fields.add("sendto_us", figures.sendto)
        fields.add("segmented_us", figures.segmented)
        fields.add("dropped_percent", figures.dropped)
        StandardStreams.print(fields.text + "\n")
        return .success
    }
}

extension ValueFormat where Value == Double {
    /// A number of packets from 1 to 40, with decimal places.
    fileprivate static var packetsPerPicture: ValueFormat<Double> {
        ValueFormat(orProblem: "not a number of packets; write it like 2.6, from 1 to 40") { text in
            Double(text).flatMap { (1...40).contains($0) ? $0 : nil }
        }
    }
}
