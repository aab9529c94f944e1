import CaptureLink
import MediaTypes
import RateControl
import VideoEncoding

/// The rate control of the pictures, and what was done for them. Both continue when a new size or chroma format needs a
/// new ``PicturePipeline``.
final class PictureAccount {
    // Only capture's main thread has access, and never two at once.
    @exclusivity(unchecked) var rate: RateController
    @exclusivity(unchecked) var statistics = CaptureStatistics()

    init(_ rate: RateController) { self.rate = rate }

    /// Counts a picture that took `time` to encode.
    func count(_ picture: EncodedPicture, _ time: Interval) {
        count(time, in: \.encodeNanoseconds)
        statistics.pictures &+= 1
        if picture.isRandomAccess { statistics.idrPictures &+= 1 }
    }

    /// Adds `time` to a field of the statistics.
    func count(_ time: Interval, in field: WritableKeyPath<CaptureStatistics, UInt64>) {
        statistics[keyPath: field] &+= UInt64(max(0, time.nanoseconds))
    }
}
