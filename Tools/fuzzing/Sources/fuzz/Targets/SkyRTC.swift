import Rooms

@testable import Signalling

extension FuzzTarget {
    /// SkyRTC's messages.
    static let skyRTC = FuzzTarget(
        name: "skyrtc",
        words: [
            "{\"eventName\":\"__", "\"data\":{", "__join", "__offer", "__answer", "__ice_candidate", "__meet",
            "__clock",
            "__unwatch", "\"room\":", "\"role\":\"viewer\"", "\"password\":", "\"socketId\":", "\"sdp\":{\"sdp\":",
            "\"candidate\":", "\"label\":", "\"sdpMLineIndex\":", "\"track\":", "\"name\":", "\"on\":true", "\"t\":",
            "__hold", "\"delay\":",
        ]
    ) { input in
        guard let text = String(validating: input, as: UTF8.self), let message = SkyRTCMessage(text) else { return }
        _ = message.clockStamp
        let sender = MemberID("member")
        let event = message.event(from: sender)
        check(event.member == sender, "a message is its sender's alone")
        if case .join(_, _, _, name: let name?) = event, let shown = MemberName.clean(name) {
            check(!shown.isEmpty && shown.count <= MemberName.limit, "a name that is shown keeps its limit")
            check(MemberName.clean(shown) == shown, "a clean name stays as it is")
        }
    }
}
