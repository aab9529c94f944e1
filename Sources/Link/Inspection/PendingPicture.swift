import CaptureLink
import H264
import MediaTypes

/// The state of the access unit that hasn't ended yet.
struct PendingPicture: Sendable {
    private(set) var offset: UInt64 = 0
    private(set) var isEmpty = true
    private(set) var hasSlice = false
    /// Whether a NAL unit in it was unusable.
    private(set) var hasLeftOut = false
    private(set) var hasFirstMacroblock = false
    private(set) var size: UInt64 = 0
    private(set) var nalUnits = 0
    /// The number of slices whose header could be read.
    private(set) var slices = 0
    private(set) var captureTime: MonotonicTime?
    var number: UInt64 = 0
    var notice: PictureNotice?
    var slice: SliceHeader?
    var orderCount: Int64?
    private var time: Interval?
    private var kinds: Set<SliceKind> = []
    private var qps: ClosedRange<Int>?

    var isOversized: Bool {
        size > UInt64(AccessUnitBuilder.byteLimit) || nalUnits > AccessUnitBuilder.nalUnitLimit
    }

    mutating func begin(at newOffset: UInt64) {
        guard isEmpty else { return }
        offset = newOffset
        isEmpty = false
    }

    mutating func leaveOut() { hasLeftOut = true }

    mutating func append(_ row: InspectedMessage, _ type: NALUnitType) {
        size &+= row.size
        nalUnits += 1
        guard type.isSlice else { return }
        if !hasSlice { time = row.time }
        if captureTime == nil { captureTime = row.captureTime }
        hasSlice = true
    }

    mutating func add(_ slice: SliceHeader, _ qp: Int?) {
        slices += 1
        kinds.insert(slice.kind)
        if slice.firstMacroblock == 0 { hasFirstMacroblock = true }
        guard let qp else { return }
        let old = qps ?? qp...qp
        qps = min(old.lowerBound, qp)...max(old.upperBound, qp)
    }

    var picture: InspectedPicture {
        InspectedPicture(
            number: number, offset: offset, size: size, time: time, captureTime: captureTime, slices: slices,
            kinds: kinds, isIDR: slice?.isIDR ?? false, referenceIDC: slice?.referenceIDC ?? 0,
            frameNumber: slice?.frameNumber, orderCount: orderCount, qps: qps, damage: notice?.damage,
            sequenceNumber: notice?.sequenceNumber)
    }
}
