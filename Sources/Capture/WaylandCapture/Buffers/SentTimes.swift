/// Finds pictures that were sent and have never arrived, by the times in the headers of a stream's buffers.
///
/// PipeWire drops a buffer that the receiver hasn't fetched when the next one is sent. The receiver sees the memory of
/// all buffers, so that a time that is new to it, in one that should have arrived before, tells of a lost one.
struct SentTimes<Buffer: Equatable> {
    /// What a buffer's memory tells of its last use.
    struct Contents: Equatable {
        /// When it was painted, in nanoseconds.
        var time: Int64
        /// Whether there is a picture in it, and not only the pointer.
        var hasPicture: Bool
    }

    private var lastTimes: [(buffer: Buffer, time: Int64)] = []

    /// Notes a buffer that hasn't been sent yet.
    mutating func add(_ buffer: Buffer, _ contents: Contents) { lastTimes.append((buffer, contents.time)) }

    /// Notes a buffer that isn't there any more.
    mutating func remove(_ buffer: Buffer) { lastTimes.removeAll { $0.buffer == buffer } }

    /// Notes one that arrives; returns whether a picture was sent before it that hasn't arrived. Each is reported once.
    mutating func arrive(_ buffer: Buffer, contents: (Buffer) -> Contents) -> Bool {
        let time = contents(buffer).time
        var isOneLost = false
        for index in lastTimes.indices {
            let (other, lastTime) = lastTimes[index]
            if other == buffer {
                lastTimes[index].time = time
                continue
            }
            let found = contents(other)
            guard found.time != lastTime, found.time < time else { continue }
            lastTimes[index].time = found.time
            if found.hasPicture { isOneLost = true }
        }
        return isOneLost
    }

    /// Whether a picture was sent after the last one that has arrived: it is on its way, or lost. If the receiver is
    /// too slow for several in a row, PipeWire 0.3.65 may lose all of them without telling the receiver.
    func isOneDue(contents: (Buffer) -> Contents) -> Bool {
        lastTimes.contains { entry in
            let found = contents(entry.buffer)
            return found.time != entry.time && found.hasPicture
        }
    }

    /// Counts every picture that was sent until now as arrived.
    mutating func forgetDue(contents: (Buffer) -> Contents) {
        for index in lastTimes.indices { lastTimes[index].time = contents(lastTimes[index].buffer).time }
    }
}
