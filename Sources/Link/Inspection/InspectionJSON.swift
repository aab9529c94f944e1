import ByteCoding
import CaptureLink
import H264
import MediaTypes

/// Formats rows and the summary as JSON, one object per line (Protocol/inspection.md).
///
/// Field names never change; later versions may add fields. A field whose value isn't known is left out.
public enum InspectionJSON {
    /// Formats a row as one line with a line feed.
    public static func line(_ row: InspectedRow) -> String {
        let object =
            switch row {
            case .message(let message): object(message)
            case .picture(let picture): object(picture)
            case .fault(let fault): object(fault)
            case .note(let note): object(note)
            }
        return object.text + "\n"
    }

    /// Formats the summary, which is the last line; `form` is the format of the stream.
    public static func line(_ summary: StreamSummary, form: String?) -> String {
        var object = JSONObject()
        object.add("type", "summary")
        object.add("form", form)
        object.add("end", summary.endOffset)
        object.add("messages", summary.messages.values.reduce(0, &+))
        object.add("payloadBytes", summary.payloadBytes)
        object.add("kinds", counts(summary.messages.map { (MessageFormatter.name(ofKind: $0) ?? "\($0)", $1) }))
        object.add("nalUnits", counts(summary.nalUnits.map { ("\($0.rawValue)", $1) }))
        object.add("epochs", summary.epochs)
        object.add("pictures", summary.pictures)
        object.add("pictureTypes", counts(summary.pictureKinds.map { ($0, $1) }))
        object.add("slices", summary.slices)
        object.add("pictureBytes", summary.pictureBytes)
        object.add("duration", summary.duration?.seconds, digits: 9)
        object.add("pictureRate", summary.pictureRate, digits: 3)
        object.add("bitRate", summary.bitRate, digits: 0)
        if summary.duration != nil { object.add("peakSecondBytes", summary.peakSecondBytes) }
        object.add("largestPicture", extreme(summary.largest) { $0.add("bytes", $1) })
        object.add(
            "longestGap",
            extreme(summary.maxGap) { $0.add("seconds", Interval(nanoseconds: $1).seconds, digits: 9) })
        object.add("idrDistance", spread(summary.idrDistance))
        object.add("qpMean", summary.meanQP, digits: 2)
        object.add("qpMin", summary.qpRange?.lowerBound)
        object.add("qpMax", summary.qpRange?.upperBound)
        object.add("damageShare", summary.meanDamage, digits: 6)
        object.add("sequences", summary.sequences.map(sequence))
        object.add("sound", sound(summary.sound))
        if let ending = summary.ending {
            object.add("endReason", "\(ending.reason)")
            object.add("endText", ending.text)
        }
        object.add("faults", summary.faultCount)
        object.add(
            "faultCodes", counts(summary.faults.map { ($0.rawValue, $1.count) }))
        return object.text + "\n"
    }

    private static func object(_ message: InspectedMessage) -> JSONObject {
        var object = JSONObject()
        object.add("type", message.isAnnexB ? "nalUnit" : "message")
        object.add("offset", message.offset)
        object.add("size", message.size)
        object.add("time", message.time?.seconds, digits: 9)
        object.add("captureTime", message.captureTime?.nanoseconds)
        if !message.isAnnexB {
            object.add("kind", message.kindCode)
            object.add("kindName", MessageFormatter.name(ofKind: message.kindCode))
            if message.epoch != 0 { object.add("epoch", String(message.epoch, radix: 16)) }
            if message.stream != 0 { object.add("stream", message.stream) }
            object.add("endsFrame", message.endsFrame)
            if message.isToCapture { object.add("toCapture", true) }
        }
        object.add("nalType", message.nalUnitType?.rawValue)
        object.add("nalRefIdc", message.referenceIDC)
        if let slice = message.slice {
            object.add("sliceType", slice.kind.description)
            object.add("firstMb", slice.firstMacroblock)
            object.add("frameNum", slice.frameNumber)
            object.add("pps", slice.pictureParameterSetID)
        }
        object.add("qp", message.qp)
        object.add("duration", message.duration?.seconds, digits: 9)
        object.add("picture", message.picture)
        object.add("damage", message.damage.map(rectangle))
        if !message.text.isEmpty { object.add("text", message.text) }
        return object
    }

    private static func object(_ picture: InspectedPicture) -> JSONObject {
        var object = JSONObject()
        object.add("type", "picture")
        object.add("picture", picture.number)
        object.add("offset", picture.offset)
        object.add("size", picture.size)
        object.add("time", picture.time?.seconds, digits: 9)
        object.add("captureTime", picture.captureTime?.nanoseconds)
        object.add("pictureType", picture.kindName)
        object.add("idr", picture.isIDR)
        object.add("nalRefIdc", picture.referenceIDC)
        object.add("slices", picture.slices)
        object.add("frameNum", picture.frameNumber)
        object.add("orderCount", picture.orderCount)
        object.add("qpMin", picture.qps?.lowerBound)
        object.add("qpMax", picture.qps?.upperBound)
        object.add("damage", picture.damage.map(rectangle))
        object.add("sequenceNumber", picture.sequenceNumber)
        return object
    }

    private static func object(_ note: InspectedNote) -> JSONObject {
        var object = JSONObject()
        object.add("type", note.code.rawValue)
        object.add("offset", note.offset)
        object.add("size", note.size)
        object.add("time", note.time?.seconds, digits: 9)
        return object
    }

    private static func object(_ fault: InspectionFault) -> JSONObject {
        var object = JSONObject()
        object.add("type", "fault")
        object.add("offset", fault.offset)
        object.add("code", fault.code.rawValue)
        object.add("text", fault.text)
        return object
    }

    private static func sequence(_ entry: StreamSummary.SequenceCount) -> JSONObject {
        let sequence = entry.sequence
        var object = JSONObject()
        object.add("id", sequence.id)
        object.add("offset", entry.offset)
        object.add("count", entry.count)
        object.add("profileLevelId", sequence.profileLevelID.hexText)
        object.add("profile", sequence.profileLevelID.profileText)
        object.add("level", sequence.profileLevelID.levelText)
        object.add("width", sequence.size.width)
        object.add("height", sequence.size.height)
        object.add("chromaFormat", sequence.chromaFormatIDC)
        object.add("text", sequence.clauses.joined(separator: ", "))
        return object
    }

    private static func sound(_ sound: StreamSummary.Audio) -> JSONObject? {
        guard sound.packets > 0 else { return nil }
        var object = JSONObject()
        object.add("packets", sound.packets)
        object.add("bytes", sound.bytes)
        object.add("duration", sound.duration.seconds, digits: 9)
        return object
    }

    private static func rectangle(_ area: PixelRectangle) -> JSONObject {
        var object = JSONObject()
        object.add("x", area.x)
        object.add("y", area.y)
        object.add("width", area.width)
        object.add("height", area.height)
        return object
    }

    private static func spread(_ spread: StreamSummary.Spread) -> JSONObject? {
        guard spread.count > 0 else { return nil }
        var object = JSONObject()
        object.add("min", spread.least)
        object.add("mean", spread.mean, digits: 3)
        object.add("max", spread.greatest)
        return object
    }

    private static func extreme(
        _ extreme: StreamSummary.Extreme?, _ add: (inout JSONObject, Int64) -> Void
    ) -> JSONObject? {
        guard let extreme else { return nil }
        var object = JSONObject()
        add(&object, extreme.value)
        object.add("picture", extreme.picture)
        object.add("offset", extreme.offset)
        object.add("time", extreme.time?.seconds, digits: 9)
        return object
    }

    /// Sorted by name, so that the same stream always gives the same text.
    private static func counts(_ entries: [(String, UInt64)]) -> JSONObject {
        var object = JSONObject()
        for (name, count) in entries.sorted(by: { $0.0 < $1.0 }) { object.add(name, count) }
        return object
    }
}
