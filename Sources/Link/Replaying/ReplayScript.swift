import ByteCoding
import CaptureLink
public import MediaTypes
public import Recording

/// Decides which messages of a recording are sent over a link, in which order, at what time, and with which headers.
///
/// Messages in the extended form are sent as recorded. NAL units of a legacy sender or of an Annex B stream are sent
/// with headers of the extended form that mark the end of each access unit; the NAL units themselves don't change. From
/// the second pass on, and if the first pass doesn't start at the beginning, the epochs differ from the recorded ones,
/// because the host must not take the messages for a continuation.
///
/// Uses no clock and no I/O. Pass items to ``take(_:)`` in file order, and get messages from ``next()``.
public struct ReplayScript: Sendable {
    private let start: ReplayStart?
    private let period: Interval
    private var places: PicturePlaces
    private var ready: [ReplayStep] = []
    private var readyIndex = 0
    /// A NAL unit without an end mark, and what follows it. Only the next NAL unit shows whether it is the last of its
    /// picture.
    private var held: [ReplayStep] = []
    /// The number of held bytes other than the pictures' NAL units.
    private var heldOtherBytes = 0
    private static let heldOtherLimit = 64 << 10
    private var index: UInt64 = 0
    private var pass: UInt64 = 0
    private var isFirstPass = true
    private var connections: UInt64 = 0
    private var isSharing = true
    private var owesLive = false
    private var state = SkippedState()
    private var sound = ReplayedAudio()
    /// The headers from before the start, for a picture that doesn't include its own.
    private var headersOwed: [[UInt8]] = []
    /// The time at which the last message is due, from the recording's beginning.
    public private(set) var lastTime = Interval.zero

    /// Creates a script. If the recording has no times, its pictures are `period` apart.
    ///
    /// - Parameter start: The place where each pass begins; nil for the beginning.
    public init(period: Interval, start: ReplayStart? = nil) {
        self.period = period
        self.start = start
        places = PicturePlaces(period: period)
    }

    /// Begins a pass: the recording's first item comes next.
    ///
    /// - Parameter number: A random number other than zero, from which the epochs of this pass are derived.
    public mutating func beginPass(_ number: UInt64) {
        isFirstPass = pass == 0
        pass = number == 0 ? 1 : number
        places = PicturePlaces(period: period)
        index = 0
        connections = 0
        state = SkippedState()
        sound.beginPass()
        headersOwed = []
        lastTime = .zero
        // The last pass may have ended while the sharer had paused.
        owesLive = !isSharing
        isSharing = true
    }

    /// Takes the recording's next item.
    public mutating func take(_ item: RecordedItem) {
        switch item.content {
        case .connection:
            endPicture()
            places.beginConnection()
            connections &+= 1
            // What was sent on the previous connection no longer applies: live, each connection begins in the sharing
            // state.
            owesLive = owesLive || !isSharing
            isSharing = true
            state = SkippedState()
        case .otherBytes(let bytes):
            guard index >= start?.index ?? 0 else { return }
            let message = MessageEncoder(epoch: currentEpoch).sourceBytes(bytes)
            // A run of zeros may be as long as the file.
            makeRoom(for: bytes.count)
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
            if message.isOfSound { sound.skip(message) } else { state.note(message, places.codec) }
            return
        }
        if message.isOfSound { return takeSound(message, at: place.time) }
        if place.beginsPicture { endPicture() }
        if let start, index == start.index {
            // This goes before the state at the start, which may be a pause.
            emitOwedLive(at: place.time)
            emitState(at: place.time)
        }
        guard message.isPassedOn else { return }
        lastTime = place.time
        emitOwedLive(at: place.time)
        noteSharing(message)
        if message.isOfPicture, !headersOwed.isEmpty { emitHeaders(before: message, place) }
        let picture = place.beginsPicture ? places.count : nil
        if message.isExtended {
            emit(step(of: message, at: place.time, picture))
        } else {
            releaseHeld()
            held.append(
                ReplayStep(time: place.time, front: header(of: message), body: message.payload, picture: picture))
        }
    }

    /// Takes a message of the sound, which has its place among those of the pictures and is independent of them.
    private mutating func takeSound(_ message: ReplayMessage, at time: Interval) {
        guard message.isPassedOn else { return }
        lastTime = time
        makeRoom(for: message.bytes.count)
        if sound.send(message) {
            let live = MessageEncoder(epoch: currentEpoch, stream: MessageHeader.soundStream).encode(.sharing(.live))
            emit(ReplayStep(time: time, front: live, picture: nil))
        }
        emit(step(of: message, at: time))
    }

    /// Ends the pass: the recording has no more items.
    public mutating func endPass() { endPicture() }

    /// The next message to send. Nil if the recording's next item is needed first.
    public mutating func next() -> ReplayStep? {
        guard readyIndex < ready.count else {
            ready.removeAll(keepingCapacity: true)
            readyIndex = 0
            return nil
        }
        defer { readyIndex += 1 }
        return ready[readyIndex]
    }

    /// The number of pictures of this pass that have begun, including those before the start.
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

    /// Makes room for bytes to be held behind a NAL unit: if there are too many, the next one isn't awaited.
    private mutating func makeRoom(for count: Int) {
        if !held.isEmpty { heldOtherBytes += count }
        if heldOtherBytes > Self.heldOtherLimit { endPicture() }
    }

    /// Marks the held NAL unit as the last one of its picture.
    private mutating func endPicture() {
        if !held.isEmpty { held[0].front[2] |= MessageFlags.endOfFrame.rawValue }
        releaseHeld()
    }

    // MARK: Headers

    private var isAsRecorded: Bool { isFirstPass && start == nil }

    /// The epoch for messages that were recorded without one; each connection has its own.
    private var currentEpoch: UInt64 {
        let epoch = pass &+ connections
        return epoch == 0 ? pass : epoch
    }

    /// A message in the extended form with the epoch of this pass.
    private func step(of message: ReplayMessage, at time: Interval, _ picture: UInt64? = nil) -> ReplayStep {
        ReplayStep(time: time, front: headerOfThisPass(message), body: message.payload, picture: picture)
    }

    /// The header of a message with the epoch of this pass.
    private func headerOfThisPass(_ message: ReplayMessage) -> [UInt8] {
        var bytes = Array(message.bytes.prefix(message.payloadStart))
        guard !isAsRecorded, bytes.count >= 40 else { return bytes }
        let epoch = message.header.epoch ^ pass
        // Zero means no epoch.
        Self.write(epoch == 0 ? pass : epoch, to: &bytes)
        return bytes
    }

    private static func write(_ epoch: UInt64, to bytes: inout [UInt8]) {
        for place in 0..<8 { bytes[32 + place] = UInt8(truncatingIfNeeded: epoch >> UInt64(8 * place)) }
    }

    /// A header in the extended form for a NAL unit that was recorded without one.
    private func header(of message: ReplayMessage) -> [UInt8] {
        header(count: message.payload.count, flags: message.header.flags.intersection(.shortStartCode))
    }

    private func header(count: Int, flags: MessageFlags = []) -> [UInt8] {
        var writer = ByteWriter(capacity: HeaderFormat.extended.headerCount)
        MessageHeader(
            kindCode: MessageKind.unit.rawValue, flags: flags, length: UInt64(count), epoch: currentEpoch
        )
        .encode(into: &writer, form: .extended)
        return writer.bytes
    }

    // MARK: State at the start

    private mutating func noteSharing(_ message: ReplayMessage) {
        guard message.header.kind == .sharing, message.header.stream == 0, let first = message.payload.first
        else { return }
        isSharing = first == SharingState.live.rawValue
    }

    /// Emits that the sharer is live again, if the host would still assume a pause.
    private mutating func emitOwedLive(at time: Interval) {
        guard owesLive else { return }
        owesLive = false
        let message = MessageEncoder(epoch: currentEpoch).encode(.sharing(.live))
        ready.append(ReplayStep(time: time, front: message, picture: nil))
    }

    /// Emits the state that was set before the start.
    private mutating func emitState(at time: Interval) {
        for message in state.controls {
            noteSharing(message)
            ready.append(step(of: message, at: time))
        }
        headersOwed = state.headers
        for message in sound.takeState() { takeSound(message, at: time) }
    }

    private mutating func emitHeaders(before message: ReplayMessage, _ place: PicturePlaces.Place) {
        defer { headersOwed = [] }
        // If the sender repeats its headers here, it repeats all that the picture needs.
        if message.facts(places.codec)?.contains(.firstHeader) == true { return }
        for unit in headersOwed {
            let payload = MessageHeader.unitMark + unit
            var front = header(count: payload.count)
            let own = headerOfThisPass(message)
            // They belong to the same picture, so they have its time and epoch.
            if message.isExtended, own.count >= 40 { front.replaceSubrange(16..<40, with: own[16..<40]) }
            ready.append(
                ReplayStep(time: place.time, front: front, body: payload[...], picture: nil))
        }
    }
}

/// One message to send.
public struct ReplayStep: Hashable, Sendable {
    /// The time at which it is due, from the recording's beginning.
    public var time: Interval
    /// The front of the message: its header in the extended form, and possibly more.
    public var front: [UInt8]
    /// The rest of the message, which shares the recorded message's memory.
    public var body: ArraySlice<UInt8> = []
    /// The number, from 1, of the recording's picture that begins with this message; nil if none does.
    public var picture: UInt64?

    /// The whole message.
    public var bytes: [UInt8] { front + body }
}
