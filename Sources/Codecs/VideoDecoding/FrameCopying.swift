import CLibAV
import MediaTypes

/// The visible part of a decoded frame, copied to planes without padding.
func copyPicture(from frame: UnsafePointer<AVFrame>) throws(VideoDecodingError) -> I420Picture {
    let size = PictureSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    let format = AVPixelFormat(frame.pointee.format)
    guard format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P, size.width > 0, size.height > 0 else {
        let name = av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "number \(frame.pointee.format)"
        throw .unsupportedFormat(format: name, size: size)
    }
    let (chromaWidth, chromaHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    let planes = [
        (frame.pointee.data.0, Int(frame.pointee.linesize.0), size.width, size.height),
        (frame.pointee.data.1, Int(frame.pointee.linesize.1), chromaWidth, chromaHeight),
        (frame.pointee.data.2, Int(frame.pointee.linesize.2), chromaWidth, chromaHeight),
    ]
    let count = size.width * size.height + 2 * chromaWidth * chromaHeight
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, written in
        for (plane, stride, width, height) in planes {
            guard let plane else { continue }
            for row in 0..<height {
                let line = UnsafeBufferPointer(start: plane + row * stride, count: width)
                _ = target[written..<written + width].update(fromContentsOf: line)
                written += width
            }
        }
    }
    // No decoder leaves a plane out; if one did, the picture would be shorter than its size says.
    guard bytes.count == count else { throw .outOfMemory }
    let time = frame.pointee.pts
    return I420Picture(
        size: size, bytes: bytes,
        isFullRange: format == AV_PIX_FMT_YUVJ420P || frame.pointee.color_range == AVCOL_RANGE_JPEG,
        matrix: matrix(of: frame),
        captureTime: time == shim_AV_NOPTS_VALUE ? nil : MonotonicTime(nanoseconds: time))
}

/// BT.601 where the stream doesn't say: that is what screens are mostly sent in.
private func matrix(of frame: UnsafePointer<AVFrame>) -> ColorMatrix {
    frame.pointee.colorspace == AVCOL_SPC_BT709 ? .bt709 : .bt601
}
