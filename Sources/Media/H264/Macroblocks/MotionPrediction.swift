/// The properties of a macroblock, or of half of one, from which its neighbours' motion vectors are predicted (ITU-T
/// H.264 section 8.4.1.3). There is only one reference picture.
struct MotionNeighbour {
    enum Kind { case unavailable, intra, inter }

    var kind: Kind
    /// In quarter samples; 0 unless `kind` is inter.
    var vector: SIMD2<Int16>

    static let unavailable = MotionNeighbour(kind: .unavailable, vector: SIMD2())
    static let intra = MotionNeighbour(kind: .intra, vector: SIMD2())

    static func inter(_ vector: SIMD2<Int16>) -> MotionNeighbour { MotionNeighbour(kind: .inter, vector: vector) }

    var isInter: Bool { kind == .inter }
    private var isStill: Bool { kind == .inter && vector == SIMD2() }

    /// Predicts a vector from the macroblocks to the left, above, and above to the right. If the last isn't available,
    /// `corner` is the one above to the left.
    static func predict(_ left: Self, _ above: Self, _ corner: Self) -> SIMD2<Int16> {
        if above.kind == .unavailable, corner.kind == .unavailable, left.kind != .unavailable { return left.vector }
        switch (left.kind == .inter, above.kind == .inter, corner.kind == .inter) {
        case (true, false, false): return left.vector
        case (false, true, false): return above.vector
        case (false, false, true): return corner.vector
        default: return median(left.vector, above.vector, corner.vector)
        }
    }

    /// The vector of a skipped macroblock (section 8.4.1.1).
    static func skipped(_ left: Self, _ above: Self, _ corner: Self) -> SIMD2<Int16> {
        if left.kind == .unavailable || above.kind == .unavailable || left.isStill || above.isStill { return SIMD2() }
        return predict(left, above, corner)
    }

    private static func median(_ a: SIMD2<Int16>, _ b: SIMD2<Int16>, _ c: SIMD2<Int16>) -> SIMD2<Int16> {
        pointwiseMax(pointwiseMin(a, b), pointwiseMin(pointwiseMax(a, b), c))
    }
}
