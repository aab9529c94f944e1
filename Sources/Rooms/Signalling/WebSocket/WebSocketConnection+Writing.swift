import CGLib
import Clocks
import MediaSessions
import MediaTypes

/// Writing to the client.
extension WebSocketConnection {
    /// Queues a picture as a binary message. Text and sound messages are sent first. There is no limit here: no more
    /// pictures arrive than the client confirms. At its turn, a picture that may no longer be shown is left out.
    func send(_ picture: WholePicture) {
        guard case .open = state else { return }
        pictures.append(picture)
        if writing == nil { writeAll() }
    }

    /// Queues a sound packet as a binary message. Text messages are sent first. At its turn, the packet is left out if
    /// it has waited for too long, if too much sound is under way, or if it may no longer be heard.
    func send(_ sound: WholeAudio) {
        guard case .open = state else { return }
        let now = MonotonicTime.now()
        sounds.removeAll { now - $0.since > limits.soundTime }
        sounds.append((sound, now))
        if writing == nil { writeAll() }
    }

    /// Counts sound from 1 again, for another stream.
    func beginSound() { soundFlow = AudioFlow(maxWait: limits.soundTime) }

    /// Records the client's confirmation of sound. Returns false if it confirms nothing new.
    func confirmSound(through number: UInt32) -> Bool {
        soundFlow.confirm(through: number, at: .now())
    }

    /// Forgets the pictures and the sound of which nothing has been written.
    func dropFrames() {
        pictures = []
        begunPicture = 0
        dropSound()
    }

    /// Forgets the sound of which nothing has been written.
    func dropSound() { sounds = [] }

    func queue(_ frame: [UInt8]) {
        guard unsentCount + frame.count <= limits.unread else { return abort() }
        // A client that always leaves a little unread must not make the buffer keep everything it has read.
        if unreadStart > limits.unread {
            unread.removeFirst(unreadStart)
            frameEnd = max(0, frameEnd - unreadStart)
            unreadStart = 0
        }
        unread += frame
        if writing == nil { writeAll() }
    }

    /// Writes queued data, and waits for space if there is more. Returns false if there is nothing to wait for.
    @discardableResult
    private func writeAll() -> Bool {
        guard let output = g_io_stream_get_output_stream(stream) else { return false }
        while unreadStart < unread.count || beginFrame() {
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

    /// Moves the next packet of sound, or else the next picture, to the bytes that are written, all of which have been.
    /// Returns false if there is none.
    private func beginFrame() -> Bool {
        clear()
        while !sounds.isEmpty {
            let (sound, since) = sounds.removeFirst()
            let now = MonotonicTime.now()
            guard now - since <= limits.soundTime, sound.isHeard(), let number = soundFlow.next(at: now)
            else { continue }
            begin(sound.header(number: number), sound.bytes)
            return true
        }
        while !pictures.isEmpty {
            let picture = pictures.removeFirst()
            begunPicture = picture.number
            guard picture.isShown() else { continue }
            begin(picture.header, picture.bytes)
            return true
        }
        return false
    }

    private func begin(_ header: [UInt8], _ bytes: [UInt8]) {
        unread.reserveCapacity(header.count + bytes.count + WebSocketFrame.maxHeaderBytes)
        unread += WebSocketFrame.binaryHeader(of: header.count + bytes.count)
        unread += header
        unread += bytes
        frameEnd = unread.count
    }

    private func clear() {
        unread.removeAll(keepingCapacity: unread.capacity <= 16 * 1024)
        unreadStart = 0
        frameEnd = 0
    }

    /// Ends now if our close frame has been sent; otherwise `tick` will.
    func finish() {
        if unread.isEmpty { abort() }
    }
}
