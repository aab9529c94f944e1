import CLibAV
import MediaTypes

/// Copies the visible part of a decoded frame to planes without padding, and converts 4:4:4 to 4:2:0.
func copyPicture(from frame: UnsafePointer<AVFrame>) throws(VideoDecodingError) -> I420Picture {
    let size = PictureSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    guard let layout = FrameLayout(AVPixelFormat(frame.pointee.format)), size.width > 0, size.height > 0 else {
        let name =
            av_get_pix_fmt_name(AVPixelFormat(frame.pointee.format)).map { String(cString: $0) }
            ?? "number \(frame.pointee.format)"
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
        for (index, (plane, stride, width, height)) in planes.enumerated() {
            guard let plane else { continue }
            for row in 0..<height {
                let line = UnsafeMutableBufferPointer(rebasing: target[written..<written + width])
                if index > 0, layout.hasFullChroma {
                    // If the height is odd, the last row is used twice.
                    let second = min(2 * row + 1, size.height - 1)
                    average(plane + 2 * row * stride, plane + second * stride, count: size.width, into: line)
                } else {
                    _ = line.update(fromContentsOf: UnsafeBufferPointer(start: plane + row * stride, count: width))
                }
                written += width
            }
        }
    }
    // No decoder leaves a plane out. If one did, the picture would be shorter than its size requires.
    guard bytes.count == count else { throw .outOfMemory }
    let time = frame.pointee.pts
    return I420Picture(
        size: size, bytes: bytes, isFullRange: layout.isFullRange || frame.pointee.color_range == AVCOL_RANGE_JPEG,
        matrix: matrix(of: frame),
        captureTime: time == shim_AV_NOPTS_VALUE ? nil : MonotonicTime(nanoseconds: time))
}

/// The sample layout of a supported frame.
private struct FrameLayout {
    var hasFullChroma: Bool
    var isFullRange: Bool

    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P: (hasFullChroma, isFullRange) = (false, false)
        case AV_PIX_FMT_YUVJ420P: (hasFullChroma, isFullRange) = (false, true)
        case AV_PIX_FMT_YUV444P: (hasFullChroma, isFullRange) = (true, false)
        case AV_PIX_FMT_YUVJ444P: (hasFullChroma, isFullRange) = (true, true)
        default: return nil
        }
    }
}

/// Averages blocks of two by two samples in two rows of `count`. If the width is odd, the last column is used twice.
private func average(
    _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, count: Int,
    into means: UnsafeMutableBufferPointer<UInt8>
) {
    for column in 0..<count / 2 {
        let (left, right) = (2 * column, 2 * column + 1)
        let sum = UInt16(upper[left]) + UInt16(upper[right]) + UInt16(lower[left]) + UInt16(lower[right])
        means[column] = UInt8(truncatingIfNeeded: (sum + 2) >> 2)
    }
    if count % 2 == 1 {
        means[count / 2] = UInt8(truncatingIfNeeded: (UInt16(upper[count - 1]) + UInt16(lower[count - 1]) + 1) >> 1)
    }
}

/// The frame's matrix, or BT.601 if the stream doesn't specify one, because most screens are sent with that.
private func matrix(of frame: UnsafePointer<AVFrame>) -> ColorMatrix {
    frame.pointee.colorspace == AVCOL_SPC_BT709 ? .bt709 : .bt601
}
