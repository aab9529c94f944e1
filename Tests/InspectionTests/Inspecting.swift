import H264
import Inspection

/// Inspects a whole Annex B stream in memory.
func inspect(annexB bytes: [UInt8]) -> (rows: [InspectedRow], summary: StreamSummary) {
    var inspector = StreamInspector()
    var rows: [InspectedRow] = []
    for range in AnnexB.nalUnits(in: bytes) {
        inspector.addNALUnit(bytes[range], at: UInt64(range.lowerBound - 3), size: UInt64(range.count + 3))
        rows += inspector.takeRows()
    }
    inspector.end(at: UInt64(bytes.count))
    return (rows + inspector.takeRows(), inspector.summary)
}

extension [InspectedRow] {
    var faults: [InspectionFault] {
        compactMap { row in
            guard case .fault(let fault) = row else { return nil }
            return fault
        }
    }

    var pictures: [InspectedPicture] {
        compactMap { row in
            guard case .picture(let picture) = row else { return nil }
            return picture
        }
    }

    var messages: [InspectedMessage] {
        compactMap { row in
            guard case .message(let message) = row else { return nil }
            return message
        }
    }
}
