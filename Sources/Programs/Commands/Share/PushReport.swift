import ByteCoding
import OutputLife
import Pushing

/// What `status` reports of a push.
struct PushReport {
    /// The most pushes that are reported.
    static let limit = 8
    /// The most Unicode scalars of a URL and of a reason, so that the answer stays within its limit: a character may
    /// have any number of them.
    private static let textLimit = 128

    let number: Int
    let label: PushLabel
    let state: OutputState
    let reason: String?

    /// For people, with the first part of the reason: semicolons separate the parts of `status`.
    var line: String {
        let reason = reason.map { ": " + Self.beginning(of: String($0.prefix { $0 != ";" })) }
        return "push \(number) \(Self.beginning(of: label.description)): \(text)" + (reason ?? "")
    }

    /// For programs.
    var object: JSONObject {
        JSONObject {
            $0.add("id", number)
            $0.add("name", label.name)
            $0.add("track", label.track?.description)
            $0.add("to", Self.beginning(of: label.target.description))
            $0.add("state", state.rawValue)
            $0.add("reason", reason.map(Self.beginning(of:)))
        }
    }

    private static func beginning(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit)))
    }

    private var text: String {
        switch state {
        case .waiting: "waiting for its track"
        case .autoReconnecting: "tries again"
        case .error: "has failed"
        case .unknown, .connecting, .connected, .disconnecting, .disconnected: state.rawValue
        }
    }
}
