import ColorConversion
import MediaTypes
import X264Encoding

/// Re-encodes a track's pictures, for viewers whose network paths can't carry the source's own frames, and for servers
/// that need a key frame before the source may be asked for one.
///
/// Encodes the newest picture as soon as the paths have had the time for the previous picture's bytes, so viewers of
/// this layer never see an old picture: a slower path gets fewer pictures of a text, and no blurred ones. Once the
/// picture stands still, it is encoded again until it is fine.
///
/// Belongs to the decode tap's thread.
struct LowLayerEncoder {
    /// The finest quantizer, at which text looks as it does on the screen.
    static let minQP = 22
    /// The finest quantizer while the picture moves. A finer one would encode moved content again, which would take
    /// half of the bytes of a scroll.
    static let minQPInMotion = 30
    /// The coarsest quantizer of text that is still readable. Only key frames are coarser, and motion of the whole
    /// picture, which has no text to read.
    static let maxQP = 38
    static let maxQPInMotion = 46
    /// The frames per second for which the quantizer is chosen: for a video, for text, for a quantizer coarser than
    /// text allows, and for half the size.
    private static let framesPerSecond = (video: 25, readable: 20, coarse: 8, halved: 15)
    /// The frames in a row that ask for half the size, and for the full size again, until they get it. Either costs a
    /// key frame.
    private static let framesUntil = (halved: 3, full: 15)
    /// A source whose pictures have more bits than this for each macroblock, one after the other, shows a video.
    private static let videoBits = 12
    /// From this bit rate on, the processor rather than the path limits the pictures of a video.
    private static let quickFromRate = 1_000_000
    /// From this bit rate on, the path carries fine pictures from the start.
    private static let fineFromRate = 8_000_000
    /// The pictures for which motion is searched near by after far searches have found none, which take eight times as
    /// long. The source of a video may have too low a bit rate for `videoBits`.
    private static let nearSearches = 15
    /// How long the picture stands still before it is encoded again in finer quality.
    private static let stillBeforeRefining = Interval.milliseconds(150)
    /// How long it stands still before it has its full size again, which costs a key frame.
    private static let stillBeforeFull = Interval.milliseconds(600)

    /// The bit rate of the paths; nil if the layer has no readers.
    private(set) var rate: BitRate?
    private var encoder: X264Encoder?
    /// The quantizer of the last picture, and the one for the next picture that differs from it.
    private var lastQP = maxQP
    private var nextQP = maxQP
    /// The number of macroblocks of a picture; 0 before the first one.
    private var macroblocks = 0
    /// The pictures in a row whose motion wasn't found: they have more than a byte for each macroblock.
    private var vainSearches = 0
    /// The number of pictures for which motion is still searched near by.
    private var nearSearches = 0
    /// Whether frames are halved in width and height. Below some 15 bits per macroblock a coarser quantizer saves
    /// nothing, so a smaller frame is the only way to more frames per second.
    private var isHalved = false
    /// The frames in a row that ask for the other of the two sizes.
    private var misfits = 0
    /// The bits of the source's pictures, a moving average over about eight. Single large ones count little.
    private var sourceBits = 0
    /// When the paths have carried all that was encoded.
    private var freeAt = MonotonicTime.zero
    /// Whether there is a picture that has not been encoded yet.
    private var hasNew = true
    private var needsKeyFrame = true
    /// Whether nothing is encoded until a newer picture arrives, or a key frame is requested.
    private var isHeldBack = false
    private var lastTicks: Int64 = 0

    /// Sets the bit rate; nil ends the encoding and frees its memory.
    mutating func setRate(_ rate: BitRate?, now: MonotonicTime) {
        guard rate != self.rate else { return }
        if let rate, let old = self.rate {
            // The last frame's bytes need less or more time now.
            let remaining = max(.zero, freeAt - now).seconds
            let change = Double(old.bitsPerSecond) / Double(max(1, rate.bitsPerSecond))
            freeAt = now + Interval(nanoseconds: Int64(min(remaining * change, 60) * 1e9))
        } else {
            self = LowLayerEncoder()
            if let rate, rate.bitsPerSecond >= Self.fineFromRate { nextQP = Self.minQPInMotion }
        }
        self.rate = rate
    }

    /// Has the next picture encoded as a key frame, at once.
    mutating func requestKeyFrame() {
        needsKeyFrame = true
        isHeldBack = false
    }

    /// Notes that a newer picture has been decoded, from a frame of `byteCount` bytes of the source.
    mutating func pictureDecoded(byteCount: Int) {
        hasNew = true
        isHeldBack = false
        sourceBits += (min(byteCount * 8, macroblocks * Self.videoBits * 2) - sourceBits) / 8
    }

    /// Whether the source shows a video: its pictures change in a way that no motion explains.
    private var showsVideo: Bool { sourceBits > macroblocks * Self.videoBits }

    /// Notes that viewers may see neither the last frame nor another one of its picture, for example because the sharer
    /// pauses. The next frame must not depend on the last one.
    mutating func holdBack() {
        needsKeyFrame = true
        isHeldBack = true
    }

    /// The last frame's picture as decoders see it; nil before the first.
    var decodedPicture: I420Picture? { encoder?.decodedPicture }

    /// When ``encode(_:now:)`` has something to do; nil if nothing is due.
    var deadline: MonotonicTime? {
        guard rate != nil, !isHeldBack else { return nil }
        if needsKeyFrame || hasNew { return freeAt }
        if isHalved { return freeAt + Self.stillBeforeFull }
        return lastQP > Self.minQP ? freeAt + Self.stillBeforeRefining : nil
    }

    /// Encodes `picture`, the newest one.
    mutating func encode(_ picture: I420Picture, now: MonotonicTime) throws -> CodedFrame {
        // A still picture has its full size.
        if !hasNew, !needsKeyFrame { isHalved = false }
        let codedPicture = isHalved ? PictureScaling.halve(picture) ?? picture : picture
        let encoder = try currentEncoder(for: codedPicture)
        let isKeyFrame = needsKeyFrame
        let qp =
            isKeyFrame ? startQP : hasNew ? nextQP : max(Self.minQP, lastQP - 4)
        lastTicks += 1
        macroblocks = picture.lumaCount / 256
        let rate = max(1, self.rate?.bitsPerSecond ?? 1)
        // A far search takes eight times as long, and in a video finds nothing.
        try encoder.reconfigure(
            searchRange: showsVideo || nearSearches > 0 ? SearchRange.far : SearchRange.farthest,
            isQuick: showsVideo && rate >= Self.quickFromRate)
        let frame = try encoder.accessUnit(
            of: codedPicture, forceIDR: isKeyFrame, qp: qp, time: MediaTime(ticks: lastTicks))
        let bits = frame.bytes.count * 8
        freeAt = max(now, freeAt) + Interval(nanoseconds: Int64(bits) * 1_000_000_000 / Int64(rate))
        if !isKeyFrame, hasNew {
            noteSearch(isVain: bits > codedPicture.lumaCount / 256 * 8)
            adaptSize(to: bits, qp, rate: rate)
            adaptQP(to: bits, rate: rate)
        }
        lastQP = qp
        (needsKeyFrame, hasNew) = (false, false)
        return frame
    }

    /// The quantizer of a key frame, which is many times as large as other pictures: coarse first, fine soon after.
    private var startQP: Int {
        switch rate?.bitsPerSecond ?? 0 {
        case ..<1_000_000: 46
        case ..<2_000_000: 38
        case ..<Self.fineFromRate: 30
        default: 26
        }
    }

    private mutating func noteSearch(isVain: Bool) {
        if nearSearches > 0 {
            nearSearches -= 1
        } else if isVain {
            vainSearches += 1
            if vainSearches >= 3 { nearSearches = Self.nearSearches }
        } else {
            vainSearches = 0
        }
    }

    /// Halves the size where the coarsest quantizer leaves too few frames per second, and goes back where the finest
    /// one leaves more than enough at half the size.
    private mutating func adaptSize(to bits: Int, _ qp: Int, rate: Int) {
        let isMisfit =
            isHalved
            ? qp <= Self.minQPInMotion && bits < rate / Self.framesPerSecond.halved
            : qp >= Self.maxQPInMotion && bits > rate / Self.framesPerSecond.coarse
        misfits = isMisfit ? misfits + 1 : 0
        guard misfits >= (isHalved ? Self.framesUntil.full : Self.framesUntil.halved) else { return }
        isHalved.toggle()
        nextQP = isHalved ? Self.maxQP : Self.maxQPInMotion
        misfits = 0
    }

    /// Chooses the next quantizer by the size of the last picture, which halves with about six steps of the quantizer.
    private mutating func adaptQP(to bits: Int, rate: Int) {
        let (frames, most) =
            if isHalved {
                (Self.framesPerSecond.halved, Self.maxQPInMotion)
            } else if showsVideo {
                (Self.framesPerSecond.video, Self.maxQPInMotion)
            } else if nextQP >= Self.maxQP {
                (Self.framesPerSecond.coarse, Self.maxQPInMotion)
            } else {
                (Self.framesPerSecond.readable, Self.maxQP)
            }
        let wanted = rate / frames
        let change =
            switch bits {
            case (wanted * 2)...: 4
            case (wanted * 5 / 4)...: 1
            case ..<(wanted * 4 / 5): -1
            default: 0
            }
        nextQP = min(most, max(Self.minQPInMotion, nextQP + change))
    }

    private mutating func currentEncoder(for picture: I420Picture) throws -> X264Encoder {
        if let encoder, encoder.configuration.fits(picture) { return encoder }
        let new = try X264Encoder(
            X264Configuration(
                size: picture.size, framesPerSecond: 30, rate: .minBits, matrix: picture.matrix,
                isFullRange: picture.isFullRange))
        encoder = new
        needsKeyFrame = true
        return new
    }
}
