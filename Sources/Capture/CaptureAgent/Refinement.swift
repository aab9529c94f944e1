/// What was coded coarsely, because too much changed for the bit rate, is coded again when the screen has come to rest:
/// pictures go on until the quantizer is fine, or doesn't become finer any more.
struct Refinement {
    /// Text is clean from here down.
    static let fineQuantizer = 24
    /// Two seconds' worth at 30 pictures a second: more would not help.
    static let mostPictures = 60

    private var pictures = 0

    /// Whether a picture should follow one with this quantizer even if nothing changes. `isChange` says whether anything
    /// had changed for this one.
    mutating func wantsAnother(quantizer: Int, isChange: Bool) -> Bool {
        pictures = isChange ? 0 : pictures + 1
        return quantizer > Self.fineQuantizer && pictures < Self.mostPictures
    }
}
