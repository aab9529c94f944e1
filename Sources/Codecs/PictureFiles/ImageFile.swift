import CLibAV
import ColorConversion
public import MediaTypes

/// Encodes pictures as image files with libavcodec. May be called on any thread; a large picture takes tens of
/// milliseconds.
public enum ImageFile {
    /// A PNG file (ISO/IEC 15948) with 8-bit RGB, which keeps the picture's exact colours.
    ///
    /// - Throws: `unusablePicture` if the size is out of range or the planes don't fit it, `encoderFailed` or
    ///   `outOfMemory`.
    public static func png(_ picture: I420Picture) throws(ImageFileError) -> [UInt8] {
        try check(picture)
        let encoder = ImageEncoder(codec: AV_CODEC_ID_PNG, name: "PNG", size: picture.size, format: AV_PIX_FMT_RGB24)
        return try encoder.encode { frame in
            I420ToRGB.write(picture, to: frame.pointee.data.0, stride: Int(frame.pointee.linesize.0))
        }
    }

    /// A JPEG file (ITU-T T.81, JFIF) with 4:2:0 chroma; `quality` is 1 (smallest file) to 100 (best picture).
    ///
    /// - Throws: `unusablePicture` as ``png(_:)``, `unusableQuality`, `encoderFailed` or `outOfMemory`.
    public static func jpeg(_ picture: I420Picture, quality: Int = 90) throws(ImageFileError) -> [UInt8] {
        try check(picture)
        guard (1...100).contains(quality) else { throw .unusableQuality(quality) }
        guard let converted = I420ToJPEGRange.convert(picture) else {
            throw .unusablePicture(picture.size, bytes: picture.bytes.count)
        }
        var encoder = ImageEncoder(
            codec: AV_CODEC_ID_MJPEG, name: "JPEG", size: picture.size, format: AV_PIX_FMT_YUVJ420P)
        // libavcodec's quality scale runs from 31 (worst) to 1 (best).
        encoder.qp = Int32(1 + ((100 - quality) * 30 + 49) / 99)
        return try encoder.encode { frame in copyPlanes(of: converted, to: frame) }
    }

    private static func check(_ picture: I420Picture) throws(ImageFileError) {
        guard picture.isWhole else { throw .unusablePicture(picture.size, bytes: picture.bytes.count) }
    }

    private static func copyPlanes(of picture: I420Picture, to frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        let (chromaWidth, chromaHeight) = (picture.chromaWidth, picture.chromaHeight)
        let planes = [
            (frame.pointee.data.0, Int(frame.pointee.linesize.0), picture.size.width, picture.size.height),
            (frame.pointee.data.1, Int(frame.pointee.linesize.1), chromaWidth, chromaHeight),
            (frame.pointee.data.2, Int(frame.pointee.linesize.2), chromaWidth, chromaHeight),
        ]
        return picture.bytes.withUnsafeBufferPointer { bytes in
            guard var row = bytes.baseAddress else { return false }
            for (plane, stride, width, height) in planes {
                guard let plane, stride >= width else { return false }
                for line in 0..<height {
                    (plane + line * stride).update(from: row, count: width)
                    row += width
                }
            }
            return true
        }
    }
}
