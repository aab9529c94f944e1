import ByteCoding
import FoundationEssentials
package import Rooms
package import SocketIORooms

/// An event of a socket.io client: `["join", ROOM]`, `["leave", ROOM]` or `["message", ROOM, DATA]`. A server's have
/// the same form.
///
/// Clients differ in details: a room that isn't text counts as missing, a `label` may be a number or text, and the
/// candidate line is in `candidate` or in `sdp`.
package struct SocketIOEvent: Decodable {
    package let name: String
    /// The room's name; empty if the client named none.
    package let room: String
    private let data: Payload?

    /// Parses an event's JSON, whose size the transport has limited; nil if it isn't a list that begins with a name.
    package init?(json: String) {
        guard let event = try? JSONDecoder().decode(SocketIOEvent.self, from: Data(json.utf8)) else { return nil }
        self = event
    }

    /// Returns what the event means for its room, coming from `member`; nil if rooms don't know the event.
    package func pairEvent(from member: MemberID) -> PairEvent? {
        switch (name, data?.type) {
        case ("leave", _): .leave(member)
        case ("message", "offer"?): data?.sdp.map { .offer(member, sdp: $0) }
        case ("message", "answer"?): data?.sdp.map { .answer(member, sdp: $0) }
        case ("message", "candidate"?): data?.iceCandidate.map { .candidate(member, $0) }
        default: nil
        }
    }

    /// Returns the data of a `message` for another client, as JSON in ASCII; nil if there is none. A candidate's line
    /// is passed on in `candidate` and in `sdp`, because the iOS client writes one and reads the other. Nil too if
    /// there are more than 256 values, or if they are nested more than 16 deep.
    static func relayed(_ json: String) -> String? {
        guard isSmall(json), case .array(let list)? = JSONValue(parsing: json), list.count > 2 else { return nil }
        var data = list[2]
        if case .object(var fields) = data, fields["type"] == .string("candidate") {
            let line = fields["candidate"] ?? fields["sdp"]
            (fields["candidate"], fields["sdp"]) = (line, fields["sdp"] ?? line)
            data = .object(fields)
        }
        return data.jsonLine.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isASCII { return text.unicodeScalars.append(scalar) }
            // Beyond ASCII, there is only text.
            text += JSONObject.quoted(String(scalar), isASCII: true).dropFirst().dropLast()
        }
    }

    /// Whether JSON can be decoded as ``JSONValue`` at once. That takes some failed attempts for each value, whose
    /// errors copy the path to the value, so a message of 64 KiB could keep the site's thread busy for seconds.
    private static func isSmall(_ json: String) -> Bool {
        var (depth, count, isText, isEscaped) = (0, 1, false, false)
        for byte in json.utf8 {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isText
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"): (depth, count) = (depth + 1, count + 1)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","): count += 1
            default: break
            }
            guard depth <= 16, count <= 256 else { return false }
        }
        return true
    }

    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        name = try list.decode(String.self)
        room = list.isAtEnd ? "" : try list.decode(Loose.self).text ?? ""
        data = list.isAtEnd ? nil : try? list.decode(Payload.self)
    }

    /// Decodes text, and accepts any other value as no text.
    private struct Loose: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    private struct Payload: Decodable {
        let type: String?
        let sdp: String?
        let iceCandidate: ICECandidate?

        enum CodingKeys: CodingKey {
            case type, sdp, candidate, label, id, sdpMLineIndex, sdpMid
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = container.text(.type)
            let sdp = container.text(.sdp)
            self.sdp = sdp
            iceCandidate = (container.text(.candidate) ?? sdp).map { line in
                ICECandidate(
                    candidate: line, mediaIndex: container.number(.label) ?? container.number(.sdpMLineIndex),
                    mediaTag: container.text(.id) ?? container.text(.sdpMid))
            }
        }
    }
}
