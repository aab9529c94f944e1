import ByteCoding
import CaptureLink
import H264
public import MediaTypes
public import Recording

/// What of a recording goes over a link, in which order, at what time of the recording and behind which headers.
///
/// Messages of the extended form go as they were recorded, to the byte. What a legacy sender sent, or an Annex B stream has,
/// gets headers of the extended form that say where access units end; its NAL units go as they were recorded. From the second
/// pass on, and where the first doesn't begin at the beginning, epochs are others than the recorded ones: what comes is not a
/// continuation, and the host must not take it for one.
///
/// No clock and no I/O. Items go in with ``take(_:)`` in the order of the file, and messages come out of ``next()``.
public struct ReplayScript: Sendable {
    private let start: ReplayStart?
    private let period: Interval
    private var places: PicturePlaces
    private var ready: [ReplayStep] = []
    private var readyIndex = 0
    /// A NAL unit without an end of its own, and what follows it: whether it is its picture's last shows with the next one.
    private var held: [ReplayStep] = []
    /// Bytes of that other than NAL units: with more of them nobody waits for the next one.
    private var heldOtherBytes = 0
    private static let heldOtherLimit = 64 << 10
    private var index: UInt64 = 0
    private var pass: UInt64 = 0
    private var isFirstPass = true
    private var connections: UInt64 = 0
    private var isSharing = true
    private var owesLive = false
    private var state = SkippedState()
    /// Parameter sets from before the start, for a picture that doesn't bring its own.
    private var setsOwed: [[UInt8]] = []
    /// When the last message that was taken is due, from the recording's beginning.
    public private(set) var lastTime = Interval.zero

    /// A script of a recording whose pictures are `period` apart where it has no times.
    ///
    /// - Parameter start: where each pass begins; nil: at the beginning.
    public init(period: Interval, start: ReplayStart? = nil) {
        self.period = period
        self.start = start
        places = PicturePlaces(period: period)
    }

    /// The recording's first item comes next.
    ///
    /// - Parameter number: random and not zero: what the epochs of this pass are made of.
    public mutating func beginPass(_ number: UInt64) {
        isFirstPass = pass == 0
        pass = number == 0 ? 1 : number
        places = PicturePlaces(period: period)
        index = 0
        connections = 0
        state = SkippedState()
        setsOwed = []
        lastTime = .zero
        // The last pass may have ended while the sharer paused.
        owesLive = !isSharing
        isSharing = true
    }

    /// The recording's next item.
    public mutating func take(_ item: RecordedItem) {
        switch item.content {
        case .connection:
            endPicture()
            places.beginConnection()
            connections &+= 1
            // What was said on the last one holds no more: live, each begins with a sharer who shares.
            owesLive = owesLive || !isSharing
            isSharing = true
            state = SkippedState()
        case .otherBytes(let bytes):
            guard index >= start?.index ?? 0 else { return }
            let message = MessageEncoder(epoch: currentEpoch).sourceBytes(bytes)
            // A run of zeros may be as long as the file.
            if !held.isEmpty { heldOtherBytes += bytes.count }
            if heldOtherBytes > Self.heldOtherLimit { endPicture() }
            emit(ReplayStep(time: lastTime, front: message, picture: nil))
        case .gap, .end: break
        case .message, .nalUnit:
            if let message = ReplayMessage(item) { take(message) }
        }
    }

    private mutating func take(_ message: ReplayMessage) {
        defer { index &+= 1 }
        let place = places.place(message)
        if let start, index < start.index {
            state.note(message)
            return
        }
        if place.beginsPicture { endPicture() }
        if let start, index == start.index {
            // In front of what holds there, which may be a pause.
            emitOwedLive(at: place.time)
            emitState(at: place.time)
        }
        guard message.isPassedOn else { return }
        lastTime = place.time
        emitOwedLive(at: place.time)
        noteSharing(message)
        if message.nalUnitType != nil, !setsOwed.isEmpty { emitSets(before: message, place) }
        let picture = place.beginsPicture ? places.count : nil
        if message.isExtended {
            emit(step(of: message, at: place.time, picture))
        } else {
            releaseHeld()
            held.append(
                ReplayStep(time: place.time, front: header(of: message), body: message.payload, picture: picture))
        }
    }

    /// The recording is at its end.
    public mutating func endPass() { endPicture() }

    /// What goes out next; nil where the recording's next item is needed first.
    public mutating func next() -> ReplayStep? {
        guard readyIndex < ready.count else {
            ready.removeAll(keepingCapacity: true)
            readyIndex = 0
            return nil
        }
        defer { readyIndex += 1 }
        return ready[readyIndex]
    }

    /// How many pictures of this pass have begun, those in front of the start included.
    public var pictures: UInt64 { places.count }

    // MARK: Order

    private mutating func emit(_ step: ReplayStep) {
        if held.isEmpty { ready.append(step) } else { held.append(step) }
    }

    private mutating func releaseHeld() {
        ready += held
        held.removeAll(keepingCapacity: true)
        heldOtherBytes = 0
    }

    /// The NAL unit that is held was the last one of its picture.
    private mutating func endPicture() {
        if !held.isEmpty { held[0].front[2] |= MessageFlags.endOfAccessUnit.rawValue }
        releaseHeld()
    }

    // MARK: Headers

    private var isAsRecorded: Bool { isFirstPass && start == nil }

    /// For what was recorded without an epoch; one for each of its connections.
    private var currentEpoch: UInt64 {
        let epoch = pass &+ connections
        return epoch == 0 ? pass : epoch
    }

    /// A message of the extended form, with the epoch of this pass.
    private func step(of message: ReplayMessage, at time: Interval, _ picture: UInt64? = nil) -> ReplayStep {
        ReplayStep(time: time, front: headerOfThisPass(message), body: message.payload, picture: picture)
    }

    /// Its header, with the epoch of this pass.
    private func headerOfThisPass(_ message: ReplayMessage) -> [UInt8] {
        var bytes = Array(message.bytes.prefix(message.payloadStart))
        guard !isAsRecorded, bytes.count >= 40 else { return bytes }
        let epoch = message.header.epoch ^ pass
        // Zero stands for none.
        Self.write(epoch == 0 ? pass : epoch, to: &bytes)
        return bytes
    }

    private static func write(_ epoch: UInt64, to bytes: inout [UInt8]) {
        for place in 0..<8 { bytes[32 + place] = UInt8(truncatingIfNeeded: epoch >> UInt64(8 * place)) }
    }

    /// A header of ours for a NAL unit that came without one.
    private func header(of message: ReplayMessage) -> [UInt8] {
        header(count: message.payload.count, flags: message.header.flags.intersection(.shortStartCode))
    }

    private func header(count: Int, flags: MessageFlags = []) -> [UInt8] {
        var writer = ByteWriter(capacity: LinkForm.extended.headerCount)
        MessageHeader(
            kindCode: MessageKind.nalUnit.rawValue, flags: flags, length: UInt64(count), epoch: currentEpoch
        )
        .encode(into: &writer, form: .extended)
        return writer.bytes
    }

    // MARK: What holds at the start

    private mutating func noteSharing(_ message: ReplayMessage) {
        guard message.header.kind == .sharing, let first = message.payload.first else { return }
        isSharing = first == SharingState.live.rawValue
    }

    /// That the sharer shares, where the host would still take it for pausing.
    private mutating func emitOwedLive(at time: Interval) {
        guard owesLive else { return }
        owesLive = false
        let message = MessageEncoder(epoch: currentEpoch).encode(.sharing(.live))
        ready.append(ReplayStep(time: time, front: message, picture: nil))
    }

    /// What holds at the start and was said before it.
    private mutating func emitState(at time: Interval) {
        for message in state.controls {
            noteSharing(message)
            ready.append(step(of: message, at: time))
        }
        setsOwed = state.parameterSets.nalUnits
    }

    private mutating func emitSets(before message: ReplayMessage, _ place: PicturePlaces.Place) {
        defer { setsOwed = [] }
        // Whoever sends one SPS in front of a picture sends all that it needs.
        if message.nalUnitType == NALUnitType.sequenceParameterSet.rawValue { return }
        for set in setsOwed {
            var front = header(count: AnnexB.startCode.count + set.count)
            let own = headerOfThisPass(message)
            // Of the same picture: with its time and epoch.
            if message.isExtended, own.count >= 40 { front.replaceSubrange(16..<40, with: own[16..<40]) }
            ready.append(
                ReplayStep(time: place.time, front: front, body: (AnnexB.startCode + set)[...], picture: nil))
        }
    }
}

/// One message to send.
public struct ReplayStep: Hashable, Sendable {
    /// When, from the recording's beginning.
    public var time: Interval
    /// The front of the message: its header, of the extended form, and perhaps more.
    public var front: [UInt8]
    /// The rest of it: shares the recorded message's memory.
    public var body: ArraySlice<UInt8> = []
    /// Which picture of the recording begins with it, counted from 1; nil where none does.
    public var picture: UInt64?

    /// All of the message.
    public var bytes: [UInt8] { front + body }
}
