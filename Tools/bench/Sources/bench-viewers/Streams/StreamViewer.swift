import Glibc
import MediaTypes
import PictureTimeline

/// One viewer whose video comes over a connection; subclasses read its bytes.
///
/// Belongs to the thread of the loop.
class StreamViewer: Watcher {
    let table: PictureTable
    private(set) var began = MonotonicTime.zero
    private(set) var firstPicture: MonotonicTime?
    private(set) var failure: String?
    private(set) var wholePictures = 0
    private(set) var isOver = false
    var counters = Counters()
    private var connection: StreamConnection?
    /// The beginning of what hasn't arrived completely.
    private var rest: [UInt8] = []

    init(_ table: PictureTable) { self.table = table }

    /// Whether it watches, or never will.
    final var isSettled: Bool { firstPicture != nil || isOver }
    /// The descriptor of its connection; -1 without one.
    final var descriptor: Int32 { connection?.descriptor ?? -1 }

    // MARK: For subclasses

    /// Handles what is complete at the beginning of `bytes`. Returns how many bytes that is.
    ///
    /// - Throws: ``BenchFailure`` after which the viewer is over.
    func handle(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) throws(BenchFailure) -> Int { bytes.count }

    /// Does what is due. Called every 10 ms.
    func advance(now: MonotonicTime) {}

    var isPlaced: Bool { true }

    /// Notes a whole picture; `counts` says whether it is one of those that count.
    final func notePicture(counts: Bool, now: MonotonicTime) {
        if firstPicture == nil { firstPicture = now }
        if counts { wholePictures += 1 }
    }

    /// Sends bytes that the kernel has room for: those of viewers are few.
    final func send(_ bytes: [UInt8]) {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if count < bytes.count { end("the host reads nothing") }
    }

    // MARK: For the loop

    /// Begins with a connection on which the video has been requested.
    final func start(_ outcome: Joining<StreamConnection>.Outcome) {
        began = outcome.began
        switch outcome.result {
        case .failure(let error): end(error.description)
        case .success(let connection): self.connection = connection
        }
    }

    /// Reads what has come, at most as much as the buffer holds.
    final func receive(into buffer: UnsafeMutableRawBufferPointer, now: MonotonicTime) {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { end("the host has closed the connection") }
            return
        }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        do throws(BenchFailure) {
            if rest.isEmpty {
                let handled = try handle(bytes, now: now)
                rest.append(contentsOf: bytes[handled...])
            } else {
                rest.append(contentsOf: bytes)
                let handled = try rest.withUnsafeBufferPointer { all throws(BenchFailure) in
                    try handle(UnsafeRawBufferPointer(all), now: now)
                }
                rest.removeFirst(handled)
            }
        } catch {
            end(error.description)
        }
    }

    /// Closes the connection.
    final func close() {
        connection = nil
        isOver = true
    }

    private func end(_ reason: String) {
        guard !isOver else { return }
        failure = reason
        close()
    }
}
