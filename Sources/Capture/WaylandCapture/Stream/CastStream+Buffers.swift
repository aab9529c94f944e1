import CPipeWire
import Clocks
import MediaTypes

/// Reads what libpipewire says about a buffer, or about an error.
extension CastStream {
    /// A picture that is older than this has no usable time.
    private static let maxAge = Interval.seconds(1)

    /// Whether buffers have arrived, but no picture in any of them.
    var bringsOnlyPointer: Bool { pointer.isReported && visible.isEmpty }

    /// The text of a negative errno.
    static func text(of code: Int32) -> String { String(cString: shim_spa_error(code)) }

    /// The memory of a buffer's first block.
    static func memory(of buffer: UnsafeMutablePointer<pw_buffer>) throws(BufferFault) -> BufferMemory {
        guard let content = buffer.pointee.buffer, content.pointee.n_datas > 0, let data = content.pointee.datas else {
            throw .noMemory
        }
        let block = data.pointee
        switch block.type {
        case SPA_DATA_MemFd.rawValue:
            return try BufferMemory(
                file: Int32(truncatingIfNeeded: block.fd), offset: Int(block.mapoffset), count: Int(block.maxsize))
        case SPA_DATA_MemPtr.rawValue:
            guard let base = block.data else { throw .noMemory }
            return BufferMemory(mapped: UnsafeRawPointer(base), count: Int(block.maxsize))
        default: throw .unsupportedMemory(block.type)
        }
    }

    /// Whether a buffer has a picture, and not only the pointer. Without a picture, its memory is empty in mutter, and
    /// marked as corrupted in KWin.
    static func hasPicture(_ buffer: UnsafeMutablePointer<pw_buffer>) -> Bool {
        guard let content = buffer.pointee.buffer, content.pointee.n_datas > 0,
            let chunk = content.pointee.datas?.pointee.chunk?.pointee
        else { return false }
        return chunk.size > 0 && UInt32(bitPattern: chunk.flags) & shim_chunk_corrupted == 0
    }

    /// What a buffer's memory tells of its last use, even if the buffer itself has never arrived.
    static func contents(
        of buffer: UnsafeMutablePointer<pw_buffer>
    ) -> SentTimes<UnsafeMutablePointer<pw_buffer>>.Contents {
        let header = buffer.pointee.buffer.flatMap { BufferMetadata.header(metadata(SPA_META_Header, of: $0)) }
        return SentTimes.Contents(time: header?.time ?? 0, hasPicture: hasPicture(buffer))
    }

    /// When a picture was painted; `now` if its header doesn't tell.
    static func painted(_ header: BufferMetadata.Header?, now: MonotonicTime = .now()) -> MonotonicTime {
        guard let header else { return now }
        let time = MonotonicTime(nanoseconds: header.time)
        return time <= now && time >= now - maxAge ? time : now
    }

    /// The metadata of a type; empty if there is none.
    static func metadata(
        _ type: spa_meta_type, of content: UnsafeMutablePointer<spa_buffer>
    ) -> UnsafeRawBufferPointer {
        for index in 0..<Int(content.pointee.n_metas) {
            guard let meta = content.pointee.metas?[index] else { break }
            if meta.type == type.rawValue, let data = meta.data {
                return UnsafeRawBufferPointer(start: data, count: Int(meta.size))
            }
        }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
