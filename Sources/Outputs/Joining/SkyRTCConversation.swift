import ByteCoding
import MediaTypes
import Signalling

/// A member of a room on a SkyRTC server: it offers to the members that are there, and gets offers from those that join
/// later.
struct SkyRTCConversation: Conversation {
    /// Some clients call only one of those that they find. A newcomer that hasn't offered to us for so long is offered
    /// to.
    private static let timeout = Interval.seconds(5)

    let room: String
    var calls = Calls()
    private var me: String?
    private var isInside = false

    init(room: String) {
        self.room = room
    }

    var farewell: [String] { [] }

    func begin(at now: MonotonicTime) -> [Wish] {
        [.send(Self.message("__join", JSONObject { $0.add("room", room) }))]
    }

    mutating func take(_ text: String, at now: MonotonicTime) -> [Wish] {
        switch SkyRTCMessage(text)?.news {
        case .peers(let others, let you):
            me = you ?? me
            let wishes: [Wish] = isInside ? [] : [.joined]
            isInside = true
            return others.filter { $0 != me }.reduce(into: wishes) {
                $0 += calls.came($1, weOffer: true, at: now)
            }
        case .waiting: return isInside ? [] : [.waits]
        case .newPeer(let peer):
            return peer == me ? [] : calls.came(peer, weOffer: false, timeout: Self.timeout, at: now)
        case .removePeer(let peer): return calls.left(peer)
        case .offer(let peer, let sdp): return peer == me ? [] : calls.offer(from: peer, sdp)
        case .answer(let peer, let sdp): return calls.answer(from: peer, sdp, at: now)
        case .candidate(let peer, let candidate): return calls.candidate(of: peer, candidate)
        // Servers have messages of their own.
        case nil: return []
        }
    }

    mutating func poll(at now: MonotonicTime) -> [Wish] { calls.poll(at: now) }

    func offer(_ sdp: String, to member: String) -> String { description("offer", sdp, to: member) }
    func answer(_ sdp: String, to member: String) -> String { description("answer", sdp, to: member) }

    private func description(_ type: String, _ sdp: String, to member: String) -> String {
        let data = JSONObject {
            $0.add(
                "sdp",
                JSONObject {
                    $0.add("type", type)
                    $0.add("sdp", sdp)
                })
            $0.add("socketId", member)
        }
        return Self.message("__" + type, data)
    }

    private static func message(_ name: String, _ data: JSONObject) -> String {
        JSONObject {
            $0.add("eventName", name)
            $0.add("data", data)
        }.text
    }
}
