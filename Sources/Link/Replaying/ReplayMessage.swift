import CaptureLink
import MediaTypes
import Recording

/// One message of a recording, on its way to be sent again.
struct ReplayMessage: Sendable {
    /// When it came, counted from the recording's beginning; nil where the file has no times.
    let time: Interval?
    /// Whether its header is one of ours and says all; else only the NAL unit is known.
    let isExtended: Bool
    /// Its header; of a NAL unit from an Annex B file, the one that it would have had.
    let header: MessageHeader
    /// All of it as recorded, header included where there is one.
    let bytes: [UInt8]
    /// Where in `bytes` the payload begins.
    let payloadStart: Int

    /// Nil where the item is no message to a host.
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
                kindCode: MessageKind.nalUnit.rawValue, flags: unit.hasShortStartCode ? .shortStartCode : [],
                length: UInt64(unit.payload.count))
            bytes = unit.payload
            payloadStart = 0
        case .message, .otherBytes, .connection, .gap, .end:
            return nil
        }
    }

    /// What follows the header.
    var payload: ArraySlice<UInt8> { bytes.dropFirst(payloadStart) }

    /// Its NAL unit, without the start code and the zeros behind it; nil where it is another kind of message, or empty.
    var nalUnit: ArraySlice<UInt8>? {
        guard header.kind == .nalUnit else { return nil }
        let unit = payload.dropFirst(4)
        guard let last = unit.lastIndex(where: { $0 != 0 }) else { return nil }
        return unit[...last]
    }

    /// The type of its NAL unit; nil where it is another kind of message, or empty.
    var nalUnitType: UInt8? {
        guard header.kind == .nalUnit else { return nil }
        return payload.dropFirst(4).first.map { $0 & 0x1F }
    }

    /// Whether it means something to a host that it did not come to first.
    ///
    /// Who the sender was and that it ended is said of the replay by itself. What a host says to a capture, and what belongs
    /// to one connection alone (the proof of its token, its clock), means nothing behind it.
    var isPassedOn: Bool {
        switch header.kindCode {
        case MessageKind.hello.rawValue, MessageKind.end.rawValue, Self.pong, Self.token, Self.answer: false
        case 32...: false
        default: true
        }
    }

    private static let pong: UInt8 = 9
    /// What recordings of an earlier version could hold of a token.
    private static let token: UInt8 = 10
    private static let answer: UInt8 = 12
}
