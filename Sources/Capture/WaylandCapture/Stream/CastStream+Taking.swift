import Clocks
import MediaTypes

/// How the newest picture is taken, put off and given back.
extension CastStream {
    /// Passes the newest picture to `body`, with the parts of it that may have changed since the last one that was
    /// taken. If `body` returns false, gives its buffer back; otherwise ``giveTakenBack()`` is to be called before the
    /// next event of the connection. Does nothing if there is none.
    func takeNewest(_ body: (KeptPicture.Pixels, [PixelRectangle]) -> Bool) {
        guard let picture = newest else { return }
        newest = nil
        paintedAt = nil
        do throws(BufferFault) {
            try picture.memory.check()
        } catch {
            report(error)
            giveBack(picture.buffer)
            return
        }
        let layout = picture.layout
        let pixels = KeptPicture.Pixels(
            base: picture.memory.base + layout.offset, columnStep: layout.columnStep, rowStep: layout.rowStep,
            order: picture.order)
        if body(pixels, damage.take()) { taken = picture } else { giveBack(picture.buffer) }
    }

    /// Whether the buffer of the last picture is still to be given back.
    var isPictureTaken: Bool { taken != nil }

    /// Whether the memory of the picture that is still to be given back can be read, or there is no such picture.
    var canReadTaken: Bool {
        guard let taken else { return true }
        do throws(BufferFault) {
            try taken.memory.check()
        } catch {
            report(error)
            return false
        }
        return true
    }

    /// Gives back the buffer of a picture that is still needed, if there is one.
    func giveTakenBack() {
        if let taken { giveBack(taken.buffer) }
        taken = nil
    }

    /// Puts the newest picture off until `time` if it looks like `kept`, which shows the last one; returns whether it
    /// is put off. If the sender says which part has changed, that part is to be compared at once. A picture whose rows
    /// aren't in one piece, because it is rotated or mirrored, isn't put off.
    func putNewestOff(until time: MonotonicTime, ifLike kept: KeptPicture) -> Bool {
        guard let picture = newest, picture.size == kept.size, damage.isWhole else { return false }
        let layout = picture.layout
        guard layout.columnStep == CastFormat.bytesPerPixel, (try? picture.memory.check()) != nil else { return false }
        let isLike = kept.sampleMatches(
            KeptPicture.Pixels(
                base: picture.memory.base + layout.offset, rowStep: layout.rowStep, order: picture.order))
        if isLike { putOffUntil = time }
        return isLike
    }

    /// Makes a picture that was put off until `now` one that is to be taken.
    func endPutOff(_ now: MonotonicTime) {
        if let time = putOffUntil, time <= now { putOffUntil = nil }
    }
}
