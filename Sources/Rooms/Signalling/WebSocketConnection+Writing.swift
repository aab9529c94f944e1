import CGLib
import MediaSessions

/// What is written to the client.
extension WebSocketConnection {
    /// Queues a picture as a binary message. Messages of text go first. There is no limit here: no more pictures come than
    /// the client confirms. One that may no longer be shown when its turn comes is left out.
    func send(_ picture: WholePicture) {
        guard case .open = state else { return }
        pictures.append(picture)
        if writing == nil { writeAll() }
    }

    /// Forgets the pictures of which nothing has been written.
    func dropPictures() { pictures = [] }

    func queue(_ frame: [UInt8]) {
        guard unsentCount + frame.count <= limits.unread else { return abort() }
        // A client that always leaves a little unread must not make the buffer keep everything it has read.
        if unreadStart > limits.unread {
            unread.removeFirst(unreadStart)
            pictureEnd = max(0, pictureEnd - unreadStart)
            unreadStart = 0
        }
        unread += frame
        if writing == nil { writeAll() }
    }

    /// Writes what is queued, and waits for space if there is more. Returns false if there is nothing to wait for.
    @discardableResult
    private func writeAll() -> Bool {
        guard let output = g_io_stream_get_output_stream(stream) else { return false }
        while unreadStart < unread.count || beginPicture() {
            var error: UnsafeMutablePointer<GError>?
            let count = unread.withUnsafeBytes { bytes in
                g_pollable_output_stream_write_nonblocking(
                    OpaquePointer(output), bytes.baseAddress?.advanced(by: unreadStart),
                    gsize(bytes.count - unreadStart), nil, &error)
            }
            if count < 0 {
                guard mustWait(&error) else {
                    abort()
                    return false
                }
                if writing == nil {
                    writing = EventSource.writable(output, on: context, of: self) { $0.writeAll() }
                }
                return true
            }
            unreadStart += count
        }
        clear()
        writing = nil
        return false
    }

    /// Moves the next picture to the bytes that are written, all of which have been. Returns false if there is none.
    private func beginPicture() -> Bool {
        clear()
        while !pictures.isEmpty {
            let picture = pictures.removeFirst()
            guard picture.isShown() else { continue }
            let header = picture.header
            unread.reserveCapacity(header.count + picture.bytes.count + WebSocketFrame.mostHeaderBytes)
            unread += WebSocketFrame.binaryHeader(of: header.count + picture.bytes.count)
            unread += header
            unread += picture.bytes
            pictureEnd = unread.count
            return true
        }
        return false
    }

    private func clear() {
        unread.removeAll(keepingCapacity: unread.capacity <= 16 * 1024)
        unreadStart = 0
        pictureEnd = 0
    }

    /// Ends now if our close frame has been sent; otherwise `tick` will.
    func finish() {
        if unread.isEmpty { abort() }
    }
}
