import ByteCoding
import CaptureLink
import H264
import MediaTypes

/// Checks what must hold from one picture to the next: the sender's numbers, frame_num and capture times.
struct PictureSuccession: Sendable {
    private var lastNotice: UInt64?
    private var lastCaptureTime: MonotonicTime?
    /// PrevRefFrameNum (ITU-T H.264 section 7.4.3); nil before the first picture.
    private var lastFrameNumber: UInt32?

    /// Forgets what can't be compared with pictures behind missing data.
    mutating func tear() {
        lastNotice = nil
        lastFrameNumber = nil
    }

    /// Takes the message that precedes a picture.
    mutating func fault(of notice: PictureNotice, at offset: UInt64) -> InspectionFault? {
        defer { lastNotice = notice.sequenceNumber }
        guard let lastNotice, notice.sequenceNumber != lastNotice &+ 1 else { return nil }
        return InspectionFault(
            .pictureNumberGap, at: offset,
            "the sender calls this picture \(notice.sequenceNumber), the one before was \(lastNotice)")
    }

    /// Takes the first slice of each picture. `clears` is whether the picture clears all references.
    mutating func faults(
        of slice: SliceHeader, _ sequence: SequenceParameterSet, clears: Bool, _ row: InspectedMessage
    ) -> [InspectionFault] {
        var faults: [InspectionFault] = []
        if let text = checkFrameNumber(of: slice, sequence, clears: clears) {
            faults.append(InspectionFault(.frameNumberGap, at: row.offset, text))
        }
        if let time = row.captureTime {
            if let lastCaptureTime, time < lastCaptureTime {
                faults.append(
                    InspectionFault(
                        .timeRunsBack, at: row.offset,
                        "the picture was taken \(DecimalText.seconds(lastCaptureTime - time)) s before the one in front"
                    ))
            }
            lastCaptureTime = time
        }
        return faults
    }

    private mutating func checkFrameNumber(
        of slice: SliceHeader, _ sequence: SequenceParameterSet, clears: Bool
    ) -> String? {
        let found = slice.frameNumber
        let next = lastFrameNumber.map { ($0 &+ 1) & ((1 << UInt32(sequence.frameNumberBits)) - 1) }
        defer {
            if clears {
                lastFrameNumber = 0
            } else if slice.referenceIDC != 0 || lastFrameNumber == nil {
                lastFrameNumber = found
            }
        }
        if slice.isIDR || sequence.allowsFrameNumberGaps { return nil }
        guard let last = lastFrameNumber, let next, found != last, found != next else { return nil }
        // Each gap is reported only once.
        lastFrameNumber = found
        return "frame_num goes from \(last) to \(found): pictures are missing"
    }
}
