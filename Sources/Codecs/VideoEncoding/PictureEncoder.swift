public import MediaTypes

/// Encodes the pictures of a screen in one codec. Unchanged parts should cost almost nothing.
///
/// The caller says which macroblocks of 16 by 16 luma samples changed or moved, and gives quantizers on H.264's scale
/// of 0...51, where 6 more double the step size (ITU-T H.264 section 8.5.9). An encoder with other blocks or another
/// scale converts them. Not thread-safe: use it from one thread at a time.
public protocol PictureEncoder: AnyObject {
    /// Encodes one picture.
    ///
    /// The planes must cover whole macroblocks and are only read during the call. The first picture is a key frame, and
    /// so is each for which `isRandomAccess` is true; key frames are encoded as a whole. `time` only orders the
    /// pictures. The result is valid until the next call.
    ///
    /// - Throws: ``VideoEncodingError`` if the encoder gave no picture.
    func encode(
        _ planes: SourcePlanes, _ mask: borrowing CodingMask, qp: Int, isRandomAccess: Bool,
        time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture

    /// Whether pictures can be encoded in bands: parts that leave all else as it is.
    var hasBands: Bool { get }
    /// Whether a picture with this mask is encoded in bands. If not, macroblocks coarser than the quantizer must be
    /// selected as well.
    func usesBands(_ mask: borrowing CodingMask) -> Bool

    /// The number of pictures besides the previous one that viewers can keep, to be predicted from later.
    var keptPictures: Int { get }
    /// Switches the reference of the next picture, which isn't a key frame nor encoded by moving.
    ///
    /// Viewers keep the previous picture in place `kept` of `keptPictures`, until another one is kept there or a key
    /// frame clears all places. The picture is predicted from the one in place `recalled`, which may be `kept`, instead
    /// of from the previous picture: unselected macroblocks show the recalled content.
    ///
    /// - Throws: ``VideoEncodingError`` if no picture precedes it, or if nothing is kept in place `recalled`.
    func switchReference(keeping kept: Int?, recalling recalled: Int?) throws(VideoEncodingError)

    /// The longest motion that can be encoded by moving, in samples; 0 if moving isn't supported.
    var maxVector: Int { get }
    /// Whether a picture with this motion can be encoded by moving. If not, it is encoded without the motion.
    func canEncode(_ motion: borrowing GlobalMotion) -> Bool
    /// Encodes a picture, for which `canEncode` is true, from the macroblock states in `motion`, and marks those whose
    /// chroma came out coarser. In all other respects it works like the method above.
    ///
    /// - Throws: ``VideoEncodingError`` if `canEncode` is false for it, or if the encoder gave no picture.
    func encode(
        _ planes: SourcePlanes, _ motion: inout GlobalMotion, qp: Int
    ) throws(VideoEncodingError) -> EncodedPicture
}

/// The macroblocks to encode.
public struct CodingMask {
    /// For each macroblock, row by row: 1 if it is to be encoded, 0 if viewers keep what they have.
    public var isSelected: [UInt8]
    /// The number of macroblocks to encode.
    public var count: Int
    /// Whether some of the other macroblocks are coarser than this picture's quantizer. An encoder that sees the whole
    /// source would encode them again.
    public var protectsRest: Bool
    /// Whether bands are better even if much is encoded, because nothing moves.
    public var prefersBands: Bool

    /// Creates a mask.
    public init(isSelected: [UInt8], count: Int, protectsRest: Bool, prefersBands: Bool = false) {
        self.isSelected = isSelected
        self.count = count
        self.protectsRest = protectsRest
        self.prefersBands = prefersBands
    }
}
