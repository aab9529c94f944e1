public import MediaTypes

/// The notice that precedes a picture's first unit.
public struct PictureNotice: Hashable, Sendable {
    /// Counts the pictures of an epoch, from 0.
    public var sequenceNumber: UInt64
    /// The part of the picture that has changed since the previous one; coordinates and sizes are 0...65 535 pixels.
    public var damage: PixelRectangle
    /// Whether the pointer is drawn in this picture, or this isn't known.
    public var isPointerDrawn: Bool
    /// Whether more pictures are to follow that are finer, even if nothing changes; false if this isn't known.
    public var isToBeRefined: Bool
    /// Whether the screen has changed since what this picture shows, and the change waits for the bit rate; false if
    /// this isn't known.
    public var isStale = false
    /// The quantizer of the picture, 0...51; 0 if it isn't known.
    public var qp: UInt8
    /// How long the sender waited after the first change for the rest of the same repaint.
    public var settling: Interval
    /// How long before the capture time the first change in the picture was noticed, or painted if the display says
    /// when; nil if that isn't known. Longer than `settling` where the change had to wait for its turn or for the bit
    /// rate.
    public var waited: Interval?
    /// How long after the capture time the picture was encoded and this notice was written; nil if that isn't known.
    public var worked: Interval?

    /// Whether nothing has changed since the previous picture, by a sender that looks for changes: recordings of what
    /// is published have no damage, and no times either.
    var saysUnchanged: Bool { worked != nil && (damage.width == 0 || damage.height == 0) }

    /// Creates the notice of picture `sequenceNumber`.
    public init(
        sequenceNumber: UInt64, damage: PixelRectangle, isPointerDrawn: Bool = true, isToBeRefined: Bool = false,
        qp: UInt8 = 0, settling: Interval = .zero, waited: Interval? = nil, worked: Interval? = nil
    ) {
        self.sequenceNumber = sequenceNumber
        self.damage = damage
        self.isPointerDrawn = isPointerDrawn
        self.isToBeRefined = isToBeRefined
        self.qp = qp
        self.settling = settling
        self.waited = waited
        self.worked = worked
    }
}
