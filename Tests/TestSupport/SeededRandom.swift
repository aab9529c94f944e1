/// SplitMix64: a small generator whose sequence depends on its seed alone, so that a failing mutation can be repeated.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose sequence is determined by `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns `bytes` with one to eight random changes: a bit flipped, a byte replaced, inserted or removed, or the
    /// end cut off.
    public mutating func mutation(of bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...8, using: &self) {
            guard !result.isEmpty else {
                result.append(UInt8.random(in: .min ... .max, using: &self))
                continue
            }
            let index = Int.random(in: 0..<result.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: result[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: result[index] = UInt8.random(in: .min ... .max, using: &self)
            case 2: result.insert(UInt8.random(in: .min ... .max, using: &self), at: index)
            case 3: result.remove(at: index)
            default: result.removeLast(min(result.count, Int.random(in: 0..<16, using: &self)))
            }
        }
        return result
    }
}
