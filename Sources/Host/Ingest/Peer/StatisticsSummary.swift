import CaptureLink

extension CaptureStatistics {
    /// The statistics on one line, for the log.
    var summary: String {
        var line =
            "\(pictures) pictures, \(idrPictures) of them key frames, \(bytes) bytes; \(residentBytes) bytes resident"
        guard let recent else { return line }
        line +=
            "; in the last \(recent.duration / 1_000_000) ms \(recent.pictures) pictures, \(recent.bytes) bytes, encoded in "
            + "\(recent.encodeMedianNanoseconds / 1000) us (p95 \(recent.encodeP95Nanoseconds / 1000)), "
            + "\(recent.processorNanoseconds / 1000) us of processor time, \(recent.damagedMillionths / 10_000) % changed"
        return line
    }
}
