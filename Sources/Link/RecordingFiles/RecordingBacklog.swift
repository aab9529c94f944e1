import CaptureLink
import CodecTable
import Glibc
import MediaTypes
import Recording
import Synchronization
import Threading

/// The records that wait to be written. It is shared by the threads that add records and the thread that writes them.
final class RecordingBacklog: Sendable {
    /// A record that has yet to be written.
    enum Entry: Sendable {
        case message(LinkBytes, LinkDirection, MonotonicTime)
        case connection(MonotonicTime)
        case gap(RecordingGap, MonotonicTime)
    }

    private struct State {
        var entries: [Entry] = []
        var bytes = 0
        /// The part of `bytes` that are messages, which will be missing if they can't be written.
        var messageBytes = 0
        var gap: RecordingGap?
        var codec = TrackFormat.Codec.h264
        var wantsRoom = false
        var isClosed = false
        var isOver = false
        var failure: RecordingFileError?
        var counters = RecordingQueue.Counters()

        mutating func stop(for error: RecordingFileError) {
            failure = error
            entries = []
            bytes = 0
            messageBytes = 0
            gap = nil
        }
    }

    /// The approximate cost of an entry in addition to its message's bytes.
    private static let entryCost = 128

    let path: String
    let header: RecordingHeader
    let handler: @Sendable (RecordingQueue.Event) -> Void
    private let limit: Int
    private let isLossless: Bool
    private let state = Mutex(State())
    private let wake: EventFD

    init(
        path: String, header: RecordingHeader, limit: Int, isLossless: Bool,
        handler: @escaping @Sendable (RecordingQueue.Event) -> Void
    ) throws(RecordingFileError) {
        guard let wake = EventFD() else { throw .system(call: "eventfd", path: path, code: errno) }
        self.wake = wake
        self.path = path
        self.header = header
        self.limit = limit
        self.isLossless = isLossless
        self.handler = handler
    }

    var counters: RecordingQueue.Counters { state.withLock { $0.counters } }
    var failure: RecordingFileError? { state.withLock { $0.failure } }
    /// Whether the writing thread is done.
    var isOver: Bool { state.withLock { $0.isOver } }

    var hasRoom: Bool {
        state.withLock { state in
            let hasRoom = state.bytes < limit || state.failure != nil || state.isClosed
            if !hasRoom { state.wantsRoom = true }
            return hasRoom
        }
    }

    func beginConnection(at time: MonotonicTime) {
        state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return }
            // The missing messages belong to the previous connection; the new one begins with a key frame.
            if let gap = state.gap { state.entries.append(.gap(gap, time)) }
            state.gap = nil
            state.entries.append(.connection(time))
            state.bytes += Self.entryCost
        }
        wake.signal()
    }

    func add(_ message: LinkBytes, _ direction: LinkDirection, mayBeLost: Bool?, at time: MonotonicTime) {
        let isKept = !(mayBeLost ?? !isLossless)
        let cost = message.bytes.count + Self.entryCost
        let event = state.withLock { state -> RecordingQueue.Event? in
            guard state.failure == nil, !state.isClosed else { return nil }
            if message.header.stream == 0, let codec = message.codec, codec.kind == .video { state.codec = codec }
            guard isKept || hasRoom(for: message, cost, state) else {
                miss(message, at: time, &state)
                return nil
            }
            var event: RecordingQueue.Event?
            if let gap = state.gap {
                state.entries.append(.gap(gap, time))
                state.gap = nil
                event = .gap(gap)
            }
            state.entries.append(.message(message, direction, time))
            state.bytes += cost
            state.messageBytes += message.bytes.count
            return event
        }
        wake.signal()
        if let event { handler(event) }
    }

    /// Whether a live link's message is kept. A gap ends only at a message that may begin a frame, and only if
    /// half of the queue is free, because many small gaps would be worse than one.
    private func hasRoom(for message: LinkBytes, _ cost: Int, _ state: State) -> Bool {
        guard state.gap != nil else { return state.bytes == 0 || state.bytes + cost <= limit }
        return state.bytes <= limit / 2 && message.mayBeginFrame(state.codec)
    }

    private func miss(_ message: LinkBytes, at time: MonotonicTime, _ state: inout State) {
        let now = time - header.start
        state.counters.missingMessages += 1
        // Nothing depends on a packet of sound, and a gap would cost the pictures up to the next key frame.
        if state.gap == nil, message.header.kind == .unit, message.header.stream == MessageHeader.soundStream { return }
        var gap = state.gap ?? RecordingGap(messages: 0, bytes: 0, from: now, to: now)
        if state.gap == nil { state.counters.gaps += 1 }
        gap.messages += 1
        gap.bytes += UInt64(message.bytes.count)
        gap.to = now
        state.gap = gap
    }

    /// Closes the backlog for new records. A gap that is still open is written as it is.
    func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            if let gap = state.gap { state.entries.append(.gap(gap, header.start + gap.to)) }
            state.gap = nil
            state.isClosed = true
        }
        wake.signal()
    }

    /// Returns all waiting records in order, after waiting for the first. Nil if there will be no more. Called on the
    /// writing thread.
    func take() -> [Entry]? {
        while true {
            let (entries, isClosed) = state.withLock { state in
                let entries = state.entries
                state.entries = []
                return (entries, state.isClosed)
            }
            if !entries.isEmpty { return entries }
            if isClosed { return nil }
            wake.wait()
        }
    }

    /// Records that these messages are in the file, whose length is now `fileBytes`. Called on the writing thread.
    func wrote(_ messages: [LinkBytes], others: Int, fileBytes: UInt64) {
        let hasRoomAgain = state.withLock { state in
            let messageBytes = messages.reduce(0) { $0 + $1.bytes.count }
            state.bytes -= messageBytes + (messages.count + others) * Self.entryCost
            state.messageBytes -= messageBytes
            state.counters.messages += UInt64(messages.count)
            state.counters.fileBytes = fileBytes
            guard state.wantsRoom, state.bytes <= limit / 2 else { return false }
            state.wantsRoom = false
            return true
        }
        if hasRoomAgain { handler(.room) }
    }

    /// Records that nothing more will be written. Called on the writing thread.
    func end() { state.withLock { $0.isOver = true } }

    /// Gives up on a writing thread that hangs. What it hasn't written counts as missing.
    func abandon() {
        state.withLock { state in
            guard state.failure == nil else { return }
            let missing = UInt64(clamping: state.messageBytes)
            state.failure = .stalled(path: path, missing: missing)
        }
    }

    /// Records that the file can't be written. From now on, everything is ignored. Called on the writing thread.
    func fail(_ error: RecordingFileError, fileBytes: UInt64) {
        let (isNews, wantedRoom) = state.withLock { state in
            let isNews = state.failure == nil
            state.stop(for: state.failure ?? error)
            state.counters.fileBytes = fileBytes
            defer { state.wantsRoom = false }
            return (isNews, state.wantsRoom)
        }
        if isNews { handler(.stopped(error)) }
        if wantedRoom { handler(.room) }
    }
}

extension LinkBytes {
    /// Whether a picture may begin with this message, so that recording may resume here after a gap.
    fileprivate func mayBeginFrame(_ codec: TrackFormat.Codec) -> Bool {
        guard let kind = header.kind, header.stream == 0 else { return false }
        guard kind == .unit else { return kind == .picture || kind == .hello || kind == .end }
        guard let facts = unit.flatMap({ codec.coding.facts(of: $0) }) else { return false }
        // For our own sender, content never begins a frame: a picture message precedes it.
        return facts.contains(.mayBeginFrame) && (form != .extended || !facts.contains(.content))
    }
}
