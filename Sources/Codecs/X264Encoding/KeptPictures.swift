import Glibc
import H264
import MediaTypes
import VideoEncoding

/// The pictures besides the previous one that viewers keep, as they see them. An earlier picture of the screen, such as
/// another window or page, thus can be returned to.
///
/// A picture is kept, or predicted from a kept one, through its slice headers (`ReferenceMarking`). x264 isn't aware of
/// this: it refers to one picture, whose samples are replaced by the samples of the kept one.
///
/// For 4:2:0 only. Not thread-safe.
final class KeptPictures {
    private let width: Int
    private let height: Int
    private var marking: ReferenceMarking
    /// The memory of each place; nil until it is used.
    private var places: [UnsafeMutablePointer<UInt8>?]

    /// The most memory that the places may take: one picture of 2560x1600, or three of 1280x720.
    private static let maxBytes = 6_200_000
    /// Decoders of every level have room for three pictures besides the one that they decode.
    private static let maxPlaces = 3

    /// How many pictures of a size are kept.
    static func count(_ configuration: X264Configuration) -> Int {
        guard configuration.chroma == .yuv420 else { return 0 }
        let (width, height) = size(configuration)
        return min(maxPlaces, maxBytes / byteCount(width, height))
    }

    private static func byteCount(_ width: Int, _ height: Int) -> Int { width * height * 3 / 2 }

    private static func size(_ configuration: X264Configuration) -> (Int, Int) {
        ((configuration.encodedSize.width + 15) & ~15, (configuration.encodedSize.height + 15) & ~15)
    }

    /// Creates the places that `configuration` has reference frames for.
    init(_ configuration: X264Configuration) {
        (width, height) = Self.size(configuration)
        places = Array(repeating: nil, count: configuration.referenceFrames - 1)
        marking = ReferenceMarking(places: places.count)
    }

    deinit {
        for place in places { place?.deallocate() }
    }

    var count: Int { places.count }

    /// Notes a key frame, which clears all places.
    func clear() { marking.clear() }

    /// Keeps `reference`, the previous picture, in place `kept`, and replaces it by the picture in place `recalled`.
    func switchReference(keeping kept: Int?, recalling recalled: Int?, _ reference: ReconstructedPicture)
        throws(VideoEncodingError)
    {
        if let recalled, !marking.hasPicture(in: recalled) { throw .notEncoded(reason: "place \(recalled) is empty") }
        if let kept, kept != recalled { forEachRow(of: kept, reference) { memcpy($0, $1, width) } }
        guard let recalled else { return }
        if kept == recalled {
            withUnsafeTemporaryAllocation(byteCount: width, alignment: 16) { row in
                guard let row = row.baseAddress else { return }
                forEachRow(of: recalled, reference) {
                    memcpy(row, $0, width)
                    memcpy($0, $1, width)
                    memcpy($1, row, width)
                }
            }
        } else {
            forEachRow(of: recalled, reference) { memcpy($1, $0, width) }
        }
        reference.extendMargins(width: width, height: height)
    }

    /// The references in the next P picture's slice headers; the places are those of `switchReference`, if it was
    /// called.
    func next(keeping kept: Int?, recalling recalled: Int?) -> SliceReferences {
        marking.append(keeping: kept, recalling: recalled)
    }

    /// Passes each row of a place to `body`, and with it the row of `reference`.
    private func forEachRow(
        of place: Int, _ reference: ReconstructedPicture,
        _ body: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
    ) {
        guard places.indices.contains(place) else { return }
        var row = places[place] ?? .allocate(capacity: Self.byteCount(width, height))
        places[place] = row
        for index in 0..<reference.planeCount {
            let plane = reference.plane(index)
            // Interleaved chroma has as many bytes a row as luma.
            for line in 0..<height / plane.lumaRows {
                body(row, plane.base + line * plane.stride)
                row += width
            }
        }
    }
}
