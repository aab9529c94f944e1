import FoundationEssentials
import OutputLife
import Signalling

/// A message of the server's. A part of another type than expected counts as missing.
struct JanusMessage: Decodable {
    private let kind: String?
    let transaction: String?
    /// The number of what was made.
    let identifier: Int64?
    private let jsep: Description?
    private let errorCode: JSONValue?
    private let pluginData: [String: JSONValue]?

    private enum CodingKeys: CodingKey {
        case janus, transaction, data, jsep, error, plugindata
    }

    private struct Description: Decodable {
        let type: String
        let sdp: String
    }

    private struct Made: Decodable {
        let id: Int64
    }

    private struct Fault: Decodable {
        let code: JSONValue
    }

    private struct Plugin: Decodable {
        let data: [String: JSONValue]
    }

    /// Nil if the text isn't a JSON object.
    init?(_ text: String) {
        guard let message = try? JSONDecoder().decode(JanusMessage.self, from: Data(text.utf8)) else { return nil }
        self = message
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try? container.decode(String.self, forKey: .janus)
        transaction = try? container.decode(String.self, forKey: .transaction)
        identifier = (try? container.decode(Made.self, forKey: .data))?.id
        jsep = try? container.decode(Description.self, forKey: .jsep)
        errorCode = (try? container.decode(Fault.self, forKey: .error))?.code
        pluginData = (try? container.decode(Plugin.self, forKey: .plugindata))?.data
    }

    var isAcknowledgement: Bool { kind == "ack" }

    /// The SDP answer in it.
    var answer: String? { jsep.flatMap { $0.type == "answer" ? $0.sdp : nil } }

    /// Why what it tells of is the end; nil if it isn't.
    var failure: OutputError? {
        switch kind {
        case "error": return Self.failure(errorCode, "the server")
        case "hangup", "detached": return OutputError("the server has ended the session")
        case "timeout": return OutputError("the server has forgotten the session")
        default: break
        }
        guard let data = pluginData else { return nil }
        if let code = data["error_code"] { return Self.failure(code, "the room") }
        if data["videoroom"] == .string("destroyed") { return OutputError("the room has been closed") }
        // Our own; those of others have their numbers.
        if data["leaving"] == .string("ok") || data["unpublished"] == .string("ok") {
            return OutputError("the room has sent this publisher away")
        }
        return nil
    }

    /// What an error says, by its number: the text beside it may repeat what is secret.
    private static func failure(_ code: JSONValue?, _ place: String) -> OutputError {
        let number = if case .number(let value)? = code { Int(exactly: value) ?? 0 } else { 0 }
        switch number {
        case 403, 405, 433:
            return OutputError("\(place) refuses this publisher's token or PIN (\(number))", isFinal: true)
        case 426: return OutputError("there is no such room (426)")
        // A killed publisher keeps its place until the server has missed its keep-alives for a minute.
        case 432: return OutputError("the room has no place for another publisher (432)", nameMayBeInUse: true)
        case 458, 459: return OutputError("the server has forgotten the session (\(number))")
        case 460: return OutputError("the server has no rooms: its VideoRoom plugin is missing (460)")
        default: return OutputError("\(place) refuses (\(number))")
        }
    }
}
