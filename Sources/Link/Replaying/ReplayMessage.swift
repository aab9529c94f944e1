import CaptureLink
import CodecTable
import MediaTypes
import Recording

/// One message of a recording that is to be sent again.
struct ReplayMessage: Sendable {
    /// The arrival time since the recording's beginning; nil if the file has no times.
    let time: Interval?
    /// Whether its header has the extended form. The other forms say nothing about a unit but its length.
    let isExtended: Bool
    /// Its header. For a NAL unit from an Annex B file, the header that it would have had.
    let header: MessageHeader
    /// The whole recorded message, including its header if it has one.
    let bytes: [UInt8]
    /// The index in `bytes` at which the payload begins.
    let payloadStart: Int

    /// Nil if the item isn't a message to a host.
    init?(_ item: RecordedItem) {
        time = item.arrival
        switch item.content {
        case .message(let link, .toHost):
            isExtended = link.form == .extended
            header = link.header
            bytes = link.bytes
            payloadStart = link.form.headerCount
        case .nalUnit(let unit):
            isExtended = false
            header = MessageHeader(
                kindCode: MessageKind.unit.rawValue, flags: unit.hasShortStartCode ? .shortStartCode : [],
                length: UInt64(unit.payload.count))
            bytes = unit.payload
            payloadStart = 0
        case .message, .otherBytes, .connection, .gap, .end:
            return nil
        }
    }

    /// The bytes after the header.
    var payload: ArraySlice<UInt8> { bytes.dropFirst(payloadStart) }

    /// Whether it belongs to the sound.
    var isOfSound: Bool { header.stream == MessageHeader.soundStream }

    /// Whether it is a unit of a picture.
    var isOfPicture: Bool { header.kind == .unit && header.stream == 0 }

    /// What is known about the unit in pictures of `codec`. Nil if it isn't valid, or for any other message.
    func facts(_ codec: TrackFormat.Codec) -> UnitFacts? {
        guard isOfPicture else { return nil }
        return codec.coding.facts(of: payload.dropFirst(MessageHeader.unitMark.count))
    }

    /// Whether the message makes sense to a host other than the one that received it first.
    ///
    /// The replay itself identifies the sender and reports the end. Messages from a host to a capture, and messages
    /// that belong to one connection (the proof of its token, its clock), make no sense later.
    var isPassedOn: Bool {
        switch header.kindCode {
        case MessageKind.hello.rawValue, MessageKind.end.rawValue, Self.pong, Self.token, Self.answer: false
        case 32...: false
        default: true
        }
    }

    private static let pong: UInt8 = 9
    /// The token messages that recordings of an earlier version could contain.
    private static let token: UInt8 = 10
    private static let answer: UInt8 = 12
}
