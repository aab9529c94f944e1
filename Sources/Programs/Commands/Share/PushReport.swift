import ByteCoding
import OutputLife
import Pushing

/// What `status` reports of a push.
struct PushReport {
    /// The most pushes that are reported.
    static let limit = 8
    /// The most characters of a URL and of a reason, so that the answer stays within its limit.
    private static let textLimit = 128

    let number: Int
    let label: PushLabel
    let state: OutputState
    let reason: String?

    /// For people, with the first part of the reason: semicolons separate the parts of `status`.
    var line: String {
        let reason = reason.map { ": \($0.prefix { $0 != ";" }.prefix(Self.textLimit))" }
        return "push \(number) \(label.description.prefix(Self.textLimit)): \(text)" + (reason ?? "")
    }

    /// For programs.
    var object: JSONObject {
        JSONObject {
            $0.add("id", number)
            $0.add("name", label.name)
            $0.add("to", String(label.target.description.prefix(Self.textLimit)))
            $0.add("state", state.rawValue)
            $0.add("reason", reason.map { String($0.prefix(Self.textLimit)) })
        }
    }

    private var text: String {
        switch state {
        case .autoReconnecting: "tries again"
        case .error: "has failed"
        case .unknown, .connecting, .connected, .disconnecting, .disconnected: state.rawValue
        }
    }
}
