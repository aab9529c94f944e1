public import MediaTypes

/// An access unit as it was put together from messages.
public struct AssembledAccessUnit: Sendable {
    /// The access unit. Where it is an IDR picture it begins with SPS and PPS.
    public let accessUnit: AccessUnit
    /// The start of capture that it belongs to; 0 from a legacy sender. A new one is a new clock and a new stream.
    public let epoch: UInt64
    /// Its number and damaged area, where the sender told.
    public let notice: PictureNotice?

    /// An access unit with what is known of it.
    public init(accessUnit: AccessUnit, epoch: UInt64, notice: PictureNotice?) {
        self.accessUnit = accessUnit
        self.epoch = epoch
        self.notice = notice
    }
}

/// What an assembler has done so far. All counts only grow.
public struct AssemblerCounters: Hashable, Sendable {
    /// Access units given out.
    public var accessUnits: UInt64 = 0
    /// IDR access units among them.
    public var idrAccessUnits: UInt64 = 0
    /// NAL units taken.
    public var nalUnits: UInt64 = 0
    /// NAL units left out because a reader has no use for them (access unit delimiters, filler, extensions).
    public var skippedNALUnits: UInt64 = 0
    /// Messages of another stream.
    public var otherStreamMessages: UInt64 = 0
    /// Access units that 40 ms without a byte ended (legacy forms).
    public var timeouts: UInt64 = 0

    /// Fault: NAL units that can't be read, or of a type that no encoder sends.
    public var invalidNALUnits: UInt64 = 0
    /// Fault: slices of a picture that had already ended by time.
    public var lateSlices: UInt64 = 0
    /// Fault: access units without a slice.
    public var emptyAccessUnits: UInt64 = 0
    /// Fault: access units left out because their SPS or PPS was never sent.
    public var withoutParameterSets: UInt64 = 0
    /// Fault: access units left out because they were past the limit of bytes or NAL units.
    public var oversizedAccessUnits: UInt64 = 0
    /// Fault: access units whose last NAL unit did not say that it is the last.
    public var missingEnds: UInt64 = 0
    /// Fault: access units that a new epoch cut off.
    public var cutOff: UInt64 = 0

    /// All faults together.
    public var faults: UInt64 {
        invalidNALUnits &+ lateSlices &+ emptyAccessUnits &+ withoutParameterSets &+ oversizedAccessUnits
            &+ missingEnds &+ cutOff
    }

    /// Nothing yet.
    public init() {}
}
