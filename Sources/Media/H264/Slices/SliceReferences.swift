/// What a P picture is predicted from, and which pictures decoders keep after it (ITU-T H.264 sections 7.4.3.1, 7.4.3.3
/// and 8.2.5.4). All slices of a picture have the same.
public struct SliceReferences: Hashable, Sendable {
    /// LongTermFrameIdx of the kept picture that the slices are predicted from; nil for the previous picture.
    public internal(set) var recalled: Int?
    /// The LongTermFrameIdx under which decoders keep the previous picture from now on; nil to keep none.
    public internal(set) var kept: Int?
    /// The number of such indices.
    var places = 0
    /// difference_of_pic_nums_minus1 of pictures that decoders need no longer.
    var dropped: [Int] = []

    /// The slices are predicted from the previous picture, and nothing is kept.
    public init() {}
}

/// The pictures that decoders keep for reference, if each picture is one that others refer to.
public struct ReferenceMarking: Sendable {
    private let places: Int
    /// The short-term reference pictures, the latest first: how many pictures came after each.
    private var recent: [Int] = []
    private var isKept: [Bool]

    /// Creates the state before the first picture, for a stream whose decoders keep `places` pictures besides the
    /// previous one: max_num_ref_frames is one more.
    public init(places: Int) {
        self.places = places
        isKept = [Bool](repeating: false, count: places)
    }

    /// Records an IDR picture, which clears all others.
    public mutating func clear() {
        recent = [0]
        for place in isKept.indices { isKept[place] = false }
    }

    /// Whether decoders keep a picture in this place.
    public func hasPicture(in place: Int) -> Bool { isKept.indices.contains(place) && isKept[place] }

    /// Records a P picture, and returns what its slices have to say. The previous picture is kept in place `kept`,
    /// whose picture decoders drop once this one is decoded; it may be the one that this picture is predicted from.
    public mutating func append(keeping kept: Int?, recalling recalled: Int?) -> SliceReferences {
        var references = SliceReferences()
        references.recalled = recalled.flatMap { hasPicture(in: $0) ? $0 : nil }
        if let kept, isKept.indices.contains(kept), !recent.isEmpty {
            references.kept = kept
            references.places = places
            isKept[kept] = true
            recent.removeFirst()
        }
        // Decoders drop the oldest by themselves, but not after a picture that says what to keep (section 8.2.5.1).
        let excess = max(0, recent.count + isKept.count { $0 } - places)
        if references.kept != nil { references.dropped = recent.suffix(excess) }
        recent.removeLast(min(excess, recent.count))
        recent = [0] + recent.map { $0 + 1 }
        return references
    }
}

extension BitWriter {
    /// Writes ref_pic_list_modification() and dec_ref_pic_marking() of a P slice (sections 7.3.3.1 and 7.3.3.3).
    mutating func references(_ references: SliceReferences) {
        flag(references.recalled != nil)
        if let place = references.recalled {
            // modification_of_pic_nums_idc 2 with long_term_pic_num, and 3: the end.
            for value in [2, place, 3] { unsignedExpGolomb(UInt32(clamping: value)) }
        }
        flag(references.kept != nil)
        guard let place = references.kept else { return }
        // memory_management_control_operation 4 says how many places there are, 1 drops a picture, 3 keeps the previous
        // one, 0 is the end.
        var operations = [4, references.places]
        for distance in references.dropped { operations += [1, distance] }
        operations += [3, 0, place, 0]
        for value in operations { unsignedExpGolomb(UInt32(clamping: value)) }
    }
}
