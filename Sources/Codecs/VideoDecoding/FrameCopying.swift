import CLibAV
import MediaTypes

/// Copies the visible part of a decoded frame to planes without padding, and converts 4:4:4 and 4:2:2 to 4:2:0.
func copyPicture(from frame: UnsafePointer<AVFrame>) throws(VideoDecodingError) -> I420Picture {
    let size = PictureSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    guard let layout = FrameLayout(AVPixelFormat(frame.pointee.format)), size.width > 0, size.height > 0 else {
        let name =
            av_get_pix_fmt_name(AVPixelFormat(frame.pointee.format)).map { String(cString: $0) }
            ?? "number \(frame.pointee.format)"
        throw .unsupportedFormat(format: name, size: size)
    }
    let (chromaWidth, chromaHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    let (redDifference, redStride) =
        layout.chroma == .interleaved ? (data.1?.advanced(by: 1), strides.1) : (data.2, strides.2)
    let planes = [
        (data.0, Int(strides.0), size.width, size.height),
        (data.1, Int(strides.1), chromaWidth, chromaHeight),
        (redDifference, Int(redStride), chromaWidth, chromaHeight),
    ]
    let count = size.width * size.height + 2 * chromaWidth * chromaHeight
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, written in
        for (index, (plane, stride, width, height)) in planes.enumerated() {
            guard let plane else { continue }
            for row in 0..<height {
                let line = UnsafeMutableBufferPointer(rebasing: target[written..<written + width])
                // If the height is odd, the last row of full chroma is used twice.
                let (first, second) = (2 * row * stride, min(2 * row + 1, size.height - 1) * stride)
                switch index == 0 ? .halved : layout.chroma {
                case .halved:
                    _ = line.update(fromContentsOf: UnsafeBufferPointer(start: plane + row * stride, count: width))
                case .full: average(plane + first, plane + second, count: size.width, into: line)
                case .halvedAcross:
                    for column in 0..<width {
                        let sum = UInt16(plane[first + column]) + UInt16(plane[second + column])
                        line[column] = UInt8(truncatingIfNeeded: (sum + 1) >> 1)
                    }
                case .interleaved:
                    for column in 0..<width { line[column] = plane[row * stride + 2 * column] }
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
    enum Chroma {
        /// 4:2:0.
        case halved
        /// 4:2:2.
        case halvedAcross
        /// 4:4:4.
        case full
        /// 4:2:0 with both components in one plane (NV12).
        case interleaved
    }

    var chroma: Chroma
    var isFullRange: Bool

    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P: (chroma, isFullRange) = (.halved, false)
        case AV_PIX_FMT_YUVJ420P: (chroma, isFullRange) = (.halved, true)
        case AV_PIX_FMT_YUV422P: (chroma, isFullRange) = (.halvedAcross, false)
        case AV_PIX_FMT_YUVJ422P: (chroma, isFullRange) = (.halvedAcross, true)
        case AV_PIX_FMT_YUV444P: (chroma, isFullRange) = (.full, false)
        case AV_PIX_FMT_YUVJ444P: (chroma, isFullRange) = (.full, true)
        case AV_PIX_FMT_NV12: (chroma, isFullRange) = (.interleaved, false)
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
