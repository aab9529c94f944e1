import MediaTypes

extension SequenceParameterSet {
    /// The number of pictures that a decoder keeps at once: the current one, and those kept for reference or
    /// reordering.
    public var bufferedPictures: Int {
        1
            + max(
                maxReferenceFrames, usability?.maxBufferedPictures ?? 0,
                usability?.maxReorderedPictures ?? 0)
    }

    /// The number of bytes that the samples of these pictures take at their coded size.
    public var pictureBufferByteCount: Int {
        // Counted in halves of the luma plane. A monochrome picture is decoded to 4:2:0.
        let halfPlanes =
            switch chromaFormatIDC {
            case 3: 6
            case 2: 4
            default: 3
            }
        let sampleBytes = max(lumaBitDepth, chromaBitDepth) > 8 ? 2 : 1
        return codedSize.width * codedSize.height * halfPlanes / 2 * sampleBytes * bufferedPictures
    }
}
