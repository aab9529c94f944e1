import ByteCoding
import CommandLine
import Exporting
import Glibc
import MediaTypes
import Recording

/// Writes an H.264 stream in Annex B form. A recorded stream is written byte for byte; otherwise each NAL unit gets a
/// start code of four bytes.
enum StreamExport {
    static func run(_ source: ExportSource, to target: ExportTarget) throws(ExportError) -> [String] {
        let file = try StreamFile(target)
        let path = source.path
        do throws(ExportError) {
            if source.selection.isAll {
                try source.items { item throws(ExportError) in
                    try file.write(item.annexB ?? [])
                    return true
                }
            } else {
                var plan = ExportPlan(from: source.selection.from, to: source.selection.to)
                try source.pictures { picture throws(ExportError) in
                    plan.add(picture)
                    return true
                }
                try source.checkBeginning()
                source.tellBeginning(of: plan)
                // The size may change in a bare stream, so the parts don't matter.
                let wanted = plan.range
                var index = 0
                try source.pictures { picture throws(ExportError) in
                    if wanted.contains(index) { try file.write(picture.frame.bytes[...]) }
                    index += 1
                    return index < wanted.upperBound
                }
            }
            guard file.count > 0 else {
                source.tellRemarks()
                throw .nothing(path: path, reason: "no picture in it can be exported")
            }
            try file.close()
        } catch {
            file.discard()
            throw error
        }
        try target.commit(0)
        return ["\(target.path): \(DecimalText.grouped(file.count)) bytes"]
    }
}

/// The stream's file, written in large pieces.
private final class StreamFile {
    private let target: ExportTarget
    private var descriptor: Int32
    private var pending: [UInt8] = []
    /// The number of bytes so far.
    private(set) var count: UInt64 = 0
    private static let pieceCount = 256 << 10

    init(_ target: ExportTarget) throws(ExportError) {
        self.target = target
        descriptor = try target.create(0)
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(ExportError) {
        count += UInt64(bytes.count)
        // In pieces, so that a large NAL unit is not copied as a whole.
        var rest = bytes
        while !rest.isEmpty {
            let taken = rest.prefix(Self.pieceCount - pending.count)
            pending.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            if pending.count >= Self.pieceCount { try flush() }
        }
    }

    func close() throws(ExportError) {
        try flush()
        let open = descriptor
        descriptor = -1
        if Glibc.close(open) != 0 { throw failure(errno) }
    }

    func discard() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        target.discard(0)
    }

    private func flush() throws(ExportError) {
        if ExportInterruption.isAsked { throw .interrupted(target.path) }
        if !writeAll(pending, to: descriptor) { throw failure(errno) }
        pending.removeAll(keepingCapacity: true)
    }

    private func failure(_ code: Int32) -> ExportError {
        [ENOSPC, EDQUOT].contains(code)
            ? .diskFull(target.path) : .writing(target.path, reason: String(cString: strerror(code)))
    }
}
