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

    /// Predicts a vector, mvp, from the macroblocks to the left (A), above (B), and above to the right (C). If the last
    /// isn't available, `c` is the one above to the left.
    static func predictedVector(_ a: Self, _ b: Self, _ c: Self) -> SIMD2<Int16> {
        if b.kind == .unavailable, c.kind == .unavailable, a.kind != .unavailable { return a.vector }
        switch (a.kind == .inter, b.kind == .inter, c.kind == .inter) {
        case (true, false, false): return a.vector
        case (false, true, false): return b.vector
        case (false, false, true): return c.vector
        default: return median(a.vector, b.vector, c.vector)
        }
    }

    /// The vector of a skipped macroblock (section 8.4.1.1).
    static func skipped(_ a: Self, _ b: Self, _ c: Self) -> SIMD2<Int16> {
        if a.kind == .unavailable || b.kind == .unavailable || a.isStill || b.isStill { return SIMD2() }
        return predictedVector(a, b, c)
    }

    private static func median(_ a: SIMD2<Int16>, _ b: SIMD2<Int16>, _ c: SIMD2<Int16>) -> SIMD2<Int16> {
        pointwiseMax(pointwiseMin(a, b), pointwiseMin(pointwiseMax(a, b), c))
    }
}
