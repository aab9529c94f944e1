public import MediaTypes

/// Writes a stream of frames and sound. May be used from one thread at a time.
public protocol MediaWriter: AnyObject {
    /// Writes one frame. Frames must be in decoding order.
    ///
    /// - Throws: ``MediaFileError``. The error may be about an earlier frame, because the system may report it
    ///   late.
    func write(_ packet: consuming MediaPacket) throws(MediaFileError)
    /// Writes one packet of the track of sound, which begins `time` after the file's beginning and lasts for
    /// `duration`. Packets must be in order of time, and at most 12 hours apart.
    ///
    /// - Throws: ``MediaFileError``, as for pictures.
    func write(sound bytes: [UInt8], at time: Interval, for duration: Interval) throws(MediaFileError)
    /// Writes the end. Throws ``MediaFileError``, also for earlier bytes that the system could not write.
    func finish() throws(MediaFileError)
}
