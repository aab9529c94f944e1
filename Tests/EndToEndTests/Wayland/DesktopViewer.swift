import MediaTypes
import Processes
import TestSupport

/// A viewer of a shared desktop, over the WebSocket (`Clients/frames_client.py`): what it is told, and what it sees. It
/// leaves when this object is released.
final class DesktopViewer {
    /// What it is told of the source (`Protocol/rooms.md`, `_state`).
    struct State {
        /// One word, such as `live` or `gone`.
        let source: String
        /// What is said to people; may be empty.
        let message: String
    }

    /// A picture that it has decoded.
    struct Picture {
        let number: Int
        /// When it was decoded.
        let time: MonotonicTime
        /// The colour differences in its middle, from 16 to 240.
        let blue: Int
        let red: Int

        /// Whether the middle is in the colour 0000ff, and not in one like it. The matrix doesn't matter.
        var isBlue: Bool { blue > 230 && red < 128 }
        /// Whether the middle is in the colour ff0000.
        var isRed: Bool { red > 230 && blue < 128 }
    }

    private let client: PythonClient
    private let folder: TemporaryFolder

    init(of link: String) throws {
        folder = try TemporaryFolder()
        let parts = LinkParts(link)
        client = try PythonClient(
            "frames_client", in: .rtc,
            ["ws" + parts.base.dropFirst(4) + "/ws", "\(parts.room),\(parts.token)", folder.file("seen.h264")],
            environment: ["MIDDLE": "1"])
    }

    /// What it has been told so far of the source, in order.
    var states: [State] {
        client.events.compactMap { event in
            guard event["event"] as? String == "event", event["name"] as? String == "_state",
                let data = event["data"] as? [String: Any], let source = data["source"] as? String
            else { return nil }
            return State(source: source, message: data["message"] as? String ?? "")
        }
    }

    /// The pictures that it has seen so far, in order.
    var pictures: [Picture] {
        client.events.compactMap { event in
            guard event["event"] as? String == "picture", let number = event["number"] as? Int,
                let time = event["decoded"] as? Int, let middle = event["middle"] as? [Int], middle.count == 3
            else { return nil }
            return Picture(
                number: number, time: MonotonicTime(nanoseconds: Int64(time)), blue: middle[1], red: middle[2])
        }
    }

    /// Whether each picture has come as the protocol says.
    var isServedWell: Bool { !client.events.contains { $0["event"] as? String == "wrong" } }

    /// Waits until the source is in this state, as far as it is told, and returns the state.
    @discardableResult
    func wait(for source: String) throws -> State {
        try eventually("the state \(source), after \(lastEvents)") {
            states.last.flatMap { $0.source == source ? $0 : nil }
        }
    }

    /// Waits for a picture after number `last`, and returns the first that `isWanted`.
    @discardableResult
    func wait(
        forPicture what: String, after last: Int = 0, where isWanted: (Picture) -> Bool = { _ in true }
    ) throws -> Picture {
        try eventually("\(what), after \(lastEvents)") { pictures.first { $0.number > last && isWanted($0) } }
    }

    /// For the report of a missed deadline.
    private var lastEvents: String { "\(client.events.suffix(5)), \(client.child.errorOutput?.text ?? "")" }
}
