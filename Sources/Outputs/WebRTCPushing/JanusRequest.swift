/// A request to a Janus server. What is nil is left out.
struct JanusRequest: Encodable {
    /// What is asked for: `create`, `attach`, `message`, `keepalive` or `destroy`.
    let janus: String
    var plugin: String?
    /// What is for the plugin.
    var body: Body?
    var jsep: Description?
    var transaction: String?
    var session: Int64?
    var handle: Int64?
    var token: String?

    /// A request to the VideoRoom plugin.
    struct Body: Encodable {
        let request: String
        var ptype: String?
        var display: String?
        var room: WebRTCServer.JanusRoom.Name?
        var pin: String?
        var token: String?
    }

    /// An offer with all of its candidates.
    struct Description: Encodable {
        let type = "offer"
        let sdp: String
        let trickle = false
    }

    private enum CodingKeys: String, CodingKey {
        case janus, plugin, body, jsep, transaction, token
        case session = "session_id"
        case handle = "handle_id"
    }
}

extension WebRTCServer.JanusRoom.Name: Encodable {
    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        }
    }
}
