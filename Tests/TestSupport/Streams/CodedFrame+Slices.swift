public import MediaTypes

extension CodedFrame {
    /// The NAL units of an H.264 picture that are its slices; servers add parameter sets and delimiters to them.
    public var slices: [[UInt8]] {
        units.map { Array(bytes[$0]) }.filter { [1, 5].contains(($0.first ?? 0) & 31) }
    }
}
