import MediaTypes

extension I420Picture {
    /// The same picture in full range, or the picture itself if it already is.
    func inFullRange() -> I420Picture {
        if isFullRange { return self }
        // ITU-T H.264 equations E-4 to E-9: luma is expanded from 16...235, and chroma from 16...240 around 128.
        let luma = (0...255).map { UInt8(clamping: (($0 - 16) * 255 * 2 + 219) / (219 * 2)) }
        let chroma = (0...255).map { (sample: Int) -> UInt8 in
            let distance = sample - 128
            return UInt8(clamping: 128 + (distance * 255 * 2 + (distance < 0 ? -224 : 224)) / (224 * 2))
        }
        var expanded = bytes
        let lumaEnd = lumaCount
        expanded.withUnsafeMutableBufferPointer { samples in
            for index in 0..<min(lumaEnd, samples.count) { samples[index] = luma[Int(samples[index])] }
            for index in min(lumaEnd, samples.count)..<samples.count { samples[index] = chroma[Int(samples[index])] }
        }
        return I420Picture(size: size, bytes: expanded, isFullRange: true, matrix: matrix, captureTime: captureTime)
    }

    /// The picture in a form that libyuv converts accurately.
    ///
    /// libyuv's factors are signed bytes with six fractional bits, so none can exceed 2. BT.709 in limited range has a
    /// factor of 2.11 for blue, so it would come out 12 levels too dark.
    func forConversion() -> I420Picture { matrix == .bt709 ? inFullRange() : self }
}
