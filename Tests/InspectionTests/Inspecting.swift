import Inspection
import Recording

/// Inspects a file that lies in memory; nil where it is none that can be read.
func inspect(_ bytes: [UInt8]) -> (rows: [InspectedRow], summary: StreamSummary, isDamaged: Bool)? {
    var inspection = FileInspection()
    var rows: [InspectedRow] = []
    let stream = read(
        bytes,
        item: {
            inspection.add($0)
            rows += inspection.takeRows()
        }, fault: { inspection.add($0) })
    guard let stream else { return nil }
    inspection.end(at: stream.offset, hasEnd: stream.form == .recording ? stream.hasEnd : nil)
    return (rows + inspection.takeRows(), inspection.summary, inspection.isDamaged)
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
