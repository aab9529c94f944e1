import H264

/// What keeps a stream of H.264 from passing as it is: viewers show frames in decoding order, and most know no other
/// samples than 8 bits in 4:2:0.
package struct H264Traits {
    /// In words for people; empty if the stream can pass.
    package let words: [String]

    /// Reads the parameter sets in a byte stream.
    ///
    /// - Parameter reorders: whether frames are known to come in another order than they are shown, whatever the
    ///   parameter sets say.
    package init(byteStream: [UInt8], reorders: Bool) {
        let sequence = AnnexB.nalUnits(in: byteStream).lazy
            .compactMap { try? SequenceParameterSet(nalUnit: byteStream[$0]) }.first
        var words: [String] = []
        if reorders || (sequence?.maxReorderedPictures ?? 0) > 0 { words.append("with B-frames") }
        if let sequence {
            let bits = max(sequence.lumaBitDepth, sequence.chromaBitDepth)
            if bits > 8 { words.append("with \(bits) bits per sample") }
            switch sequence.chromaFormatIDC {
            case 2: words.append("in 4:2:2")
            case 3: words.append("in 4:4:4")
            // Decoders that don't know the profile refuse whatever has it.
            default: if sequence.profileLevelID.profileIDC == 244 { words.append("of a 4:4:4 profile") }
            }
        }
        self.words = words
    }
}
