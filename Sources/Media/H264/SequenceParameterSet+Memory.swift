import MediaTypes

extension SequenceParameterSet {
    /// How many pictures a decoder keeps at once: the one that it decodes, and all that may be referred to or wait for their turn.
    public var bufferedPictures: Int {
        1
            + max(
                maximumReferenceFrames, usability?.maximumBufferedPictures ?? 0,
                usability?.maximumReorderedPictures ?? 0)
    }

    /// How many bytes the samples of these pictures take, at their coded size.
    public var pictureBufferByteCount: Int {
        // In halves of the luma plane. A monochrome picture is decoded to 4:2:0.
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
