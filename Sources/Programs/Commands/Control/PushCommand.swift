import CommandLine
import OutputSettings
import ScreenRelayKit
import Signalling

/// `screenrelay push`: the pushes of a running share or host to other servers.
enum PushCommand {
    static let row = ControlRow(
        "push", "Starts, lists, stops or changes pushes of a running share or host to other servers.",
        [
            Option(
                long: "preset", value: .required("PRESET"),
                help: "with add and reload: how to encode video and sound, as with share --preset",
                choices: VideoPreset.allCases.map(\.rawValue)),
            Option(long: "json", help: "for programs: with list, one JSON object per line (Protocol/control.md)"),
        ],
        operands: Operands(
            name: "ACTION", count: 1...2,
            help:
                "'list', 'add URL' with a URL as for share --push, 'stop NUMBER', 'restart NUMBER' or "
                + "'reload NUMBER', with a number of the list; "
                + "reload changes the settings of a running push to --preset, or to none",
            choices: ["list", "add", "stop", "restart", "reload"]),
        examples: [
            Example("screenrelay push add rtmp://live.example/app/key", "Starts another push."),
            Example(
                "screenrelay push add rtmp://live.example/app/key2,track=camera",
                "Pushes another track of the room, whenever there is one."),
            Example("screenrelay push list", "Lists the pushes and their states."),
            Example("screenrelay push stop 1", "Stops the first push."),
            Example("screenrelay push reload 2 --preset low3", "Lowers the second push's rate while it runs."),
        ]
    ) { (options) throws(UsageError) in
        let order = ControlCommand.push(try order(options))
        guard order == .push(.list) else { return ControlRow.request(order) }
        guard !options.has("json") else { return ControlRow.jsonRequest(order) }
        return ControlRow.Request(asksAll: true) { (host) throws(UsageError) in
            .lines(text(of: try host.read(PushesDocument.self, order)))
        }
    }

    /// The user's order, once its URL is hidden from users who list processes.
    private static func order(_ options: ParsedOptions) throws(UsageError) -> ControlCommand.PushOrder {
        let words = options.operands
        let preset = options.value("preset")
        if words.first == "add", words.count == 2 {
            SecretArguments.hide([words[1]])
            _ = try PushOption.read(words[1], preset: preset, isOpenToNetwork: true, place: "push add")
            return .add(url: words[1], preset: preset)
        }
        let number = words.count == 2 ? Int(words[1]) : nil
        if words.first == "reload", let number, number > 0 {
            if let preset { _ = try PushPreset.format.read(preset, option: "--preset") }
            return .reload(number, preset: preset)
        }
        if preset != nil { throw UsageError("--preset: only 'push add URL' and 'push reload NUMBER' use it") }
        switch (words.first, number) {
        case ("list", nil) where words.count == 1: return .list
        case ("stop", let number?) where number > 0: return .stop(number)
        case ("restart", let number?) where number > 0: return .restart(number)
        default:
            throw UsageError(
                "push: write 'list', 'add URL', 'stop NUMBER', 'restart NUMBER' or 'reload NUMBER'")
        }
    }

    /// Formats a host's pushes for people.
    static func text(of document: PushesDocument) -> String {
        guard !document.pushes.isEmpty else { return "nothing is pushed\n" }
        var table = TextTable()
        table.add(["NUMBER", "NAME", "TRACK", "TO", "STATE", "PICTURES/S", "SOUND/S", "BITS/S", "WAITING", "LEFT OUT"])
        for push in document.pushes {
            table.add([
                "\(push.id)", push.name ?? "-", push.track ?? ScreenRelayHost.firstTrackName, push.to,
                push.state + (push.reason.map { ": \($0)" } ?? ""),
                push.picturesPerSecond.map(String.init) ?? "-", push.soundPerSecond.map(String.init) ?? "-",
                push.bitsPerSecond.map { rateText(Double($0)) } ?? "-",
                push.queueMilliseconds.map { "\($0) ms" } ?? "-", leftOut(push),
            ])
        }
        return table.text
    }

    /// The number of frames left out, as "12", or as "12, 3 of sound".
    private static func leftOut(_ push: PushesDocument.Push) -> String {
        guard let pictures = push.droppedPictures else { return "-" }
        guard let sound = push.droppedSound, sound > 0 else { return "\(pictures)" }
        return "\(pictures), \(sound) of sound"
    }
}
