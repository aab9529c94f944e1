import CaptureLink
import H264
import MediaTypes
import Recording

extension FuzzTarget {
    /// H.264 byte streams, which the file reader gets in pieces.
    static let annexB = FuzzTarget(name: "annex-b") { stream in
        var end = 0
        for range in AnnexB.nalUnits(in: stream) {
            check(range.lowerBound >= end + 3 && range.upperBound <= stream.count, "NAL units stand in their order")
            check(!range.isEmpty && stream[range.upperBound - 1] != 0, "a NAL unit never ends with a zero")
            end = range.upperBound
        }
        if let unit = try? CodedFrame(annexB: stream, captureTime: nil) { checkForm(of: unit) }
        for unit in AccessUnitBuilder.accessUnits(inAnnexB: stream) { checkForm(of: unit) }
        check(
            EmulationPrevention.removed(from: EmulationPrevention.added(to: stream)[...]) == stream,
            "emulation prevention can be undone")
        checkFile(stream, pieceSize: pieceSize(for: stream))
    }

    /// Checks that each NAL unit of an access unit follows a start code of four bytes.
    static func checkForm(of unit: CodedFrame) {
        var end = 0
        for range in unit.units {
            check(range.lowerBound == end + 4 && range.upperBound <= unit.bytes.count, "NAL units stand one by one")
            check(unit.bytes[end..<end + 4].elementsEqual(AnnexB.startCode), "a start code has four bytes")
            end = range.upperBound
        }
        check(end == unit.bytes.count, "nothing stands behind the last NAL unit")
        check(unit.bytes.count <= AccessUnitBuilder.byteLimit, "an access unit keeps its limit")
    }
}

/// Checks that a file that is read without a fault comes out byte for byte.
private func checkFile(_ bytes: [UInt8], pieceSize: Int) {
    var stream = RecordedStream(form: .annexB)
    var copy: [UInt8] = []
    var rest = bytes[...]
    repeat {
        if rest.isEmpty { stream.finish() }
        stream.push(rest.prefix(pieceSize))
        rest = rest.dropFirst(pieceSize)
        while let item = stream.next() {
            check(item.offset == UInt64(copy.count), "items follow each other")
            copy += item.annexB ?? []
            check(item.offset + item.byteCount == UInt64(copy.count), "an item is as long as it says")
        }
    } while !rest.isEmpty
    stream.finish()
    while let item = stream.next() { copy += item.annexB ?? [] }
    if stream.fault == nil { check(copy == bytes, "a byte stream comes out as it went in") }
}
