import CLibAV

/// A stream of bytes that another library receives, for a ``MediaReader``. Used on the reader's thread.
package protocol MediaInput: AnyObject {
    /// Waits for a short while until more bytes have arrived, and writes them into `buffer`, which has room for
    /// 32 KiB. Returns how many there are; 0 if none have arrived so far; nil at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
}

/// Has libavformat read from a ``MediaInput``. Kept for as long as the format's context, which is closed before.
final class InputContext {
    private static let size = 32 << 10

    private let input: any MediaInput
    private let connection: MediaConnection
    /// Owned by this object. Nil only if there is no memory, when the initialiser throws.
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    init(_ input: any MediaInput, _ connection: MediaConnection) throws(MediaFileError) {
        self.input = input
        self.connection = connection
        guard let buffer = av_malloc(Self.size) else { throw .outOfMemory }
        context = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.size), 0, Unmanaged.passUnretained(self).toOpaque(),
            { context, bytes, count in
                guard let context, let bytes else { return shim_AVERROR_EXIT }
                let this = Unmanaged<InputContext>.fromOpaque(context).takeUnretainedValue()
                return this.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            }, nil, nil)
        guard context != nil else {
            av_free(buffer)
            throw .outOfMemory
        }
    }

    deinit {
        // The library may have replaced the buffer by another one.
        av_free(context?.pointee.buffer)
        avio_context_free(&context)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        while !connection.isAbandoned, !connection.isLate {
            guard let count = input.read(into: buffer) else { return shim_AVERROR_EOF }
            if count > 0 { return Int32(count) }
        }
        return shim_AVERROR_EXIT
    }
}
