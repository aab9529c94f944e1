import CPulse
import Clocks
import Glibc
import MediaTypes

/// A stream of samples from one device of a PulseAudio server.
///
/// A corked stream would still request its timing every 1.5 s, and show the user a microphone in use. A microphone's
/// stream is therefore closed while nothing can be heard. A monitor's stream stays open, in short blocks: a program's
/// sound replaces the silence in a device, but not the silence that the server has passed on ahead of time, so that
/// much of the sound would be missed.
final class RecordStream {
    /// The name of the recorded source.
    let device: String
    private let channelCount: Int
    private let stream: OpaquePointer
    /// The stamp of the last timing received.
    private var lastStamp: Stamp?
    /// When `timing` asks the server again.
    private(set) var timingDue = MonotonicTime.zero

    private static let timingPeriod = Interval.milliseconds(250)
    /// No honest server reports more: 10 s.
    private static let limit = (frames: Int64(480_000), microseconds: Int64(10_000_000))

    /// The server's time of day.
    private struct Stamp: Equatable {
        let seconds: Int
        let microseconds: Int

        init(_ time: timeval) {
            seconds = time.tv_sec
            microseconds = time.tv_usec
        }
    }

    private static let silence = [Float](repeating: 0, count: Slot.frameCount * 2)

    /// Opens a stream; nil if the server can't be asked for one.
    ///
    /// - Parameter isMonitor: Whether the device is the monitor of a sink.
    init?(_ context: OpaquePointer, device: String, isMonitor: Bool, channelCount: Int) {
        var format = pa_sample_spec(
            format: shim_PA_SAMPLE_FLOAT32NE, rate: 48_000, channels: UInt8(clamping: channelCount))
        guard let stream = pa_stream_new(context, "shared sound", &format, nil) else { return nil }
        // A reader that is late finds 1.5 s at most. The server has the device work in blocks of half a fragment, which
        // is half a slot, unless the playing program wants shorter blocks. Two blocks of silence may have been passed
        // on when a program begins to play.
        let slot = UInt32(clamping: Slot.frameCount * channelCount * MemoryLayout<Float>.size)
        var buffer = pa_buffer_attr(
            maxlength: slot * 75, tlength: .max, prebuf: .max, minreq: .max, fragsize: slot)
        // The server would move the stream of a default device to the next default, which may be a microphone where a
        // monitor was. Which device is recorded is for us to decide.
        var flags = PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_DONT_MOVE.rawValue
        // A sink without a playing program may still sleep. A microphone must not.
        if isMonitor { flags |= PA_STREAM_DONT_INHIBIT_AUTO_SUSPEND.rawValue }
        guard pa_stream_connect_record(stream, device, &buffer, pa_stream_flags_t(rawValue: flags)) == 0 else {
            pa_stream_unref(stream)
            return nil
        }
        self.device = device
        self.channelCount = channelCount
        self.stream = stream
    }

    deinit {
        // An error means that the connection has gone, and the stream with it.
        _ = pa_stream_disconnect(stream)
        pa_stream_unref(stream)
    }

    /// Whether the server has ended it: the device is gone, or was refused.
    var hasEnded: Bool {
        let state = pa_stream_get_state(stream)
        return state == PA_STREAM_FAILED || state == PA_STREAM_TERMINATED
    }

    private var isReady: Bool { pa_stream_get_state(stream) == PA_STREAM_READY }

    /// Whether the device sleeps, so that no samples arrive.
    var isSuspended: Bool { isReady && pa_stream_is_suspended(stream) > 0 }

    /// The capture time of the sample so many frames after the next one to be read. For a monitor, it is the time at
    /// which the sample is heard, which may be in the future.
    struct Timing {
        var framesAhead: Int64
        var time: MonotonicTime
    }

    /// Requests the server's timing now and then, and returns the timing that has arrived since the last call.
    func timing() -> Timing? {
        guard isReady else { return nil }
        let (now, today) = (MonotonicTime.now(), Interval.sinceUnixEpoch())
        if now >= timingDue {
            timingDue = now + Self.timingPeriod
            finish(pa_stream_update_timing_info(stream, nil, nil))
        }
        guard let told = pa_stream_get_timing_info(stream)?.pointee, told.write_index_corrupt == 0,
            told.read_index_corrupt == 0, Stamp(told.timestamp) != lastStamp
        else { return nil }
        let (bytes, isBeyond) = told.write_index.subtractingReportingOverflow(told.read_index)
        let frames = bytes / Int64(channelCount * MemoryLayout<Float>.size)
        let (latency, isFar) = Int64(clamping: told.source_usec).subtractingReportingOverflow(
            Int64(clamping: told.sink_usec))
        guard !isBeyond, !isFar, frames.magnitude <= Self.limit.frames, latency.magnitude <= Self.limit.microseconds
        else { return nil }
        lastStamp = Stamp(told.timestamp)
        let day = Interval.seconds(Int64(told.timestamp.tv_sec)) + .microseconds(Int64(told.timestamp.tv_usec))
        return Timing(framesAhead: frames, time: now - (today - day) - .microseconds(latency))
    }

    /// Requires a new timing before anything is read, because the device sleeps: earlier timing doesn't apply to later
    /// samples.
    func sleep() {
        lastStamp = pa_stream_get_timing_info(stream).map { Stamp($0.pointee.timestamp) }
        timingDue = .zero
    }

    /// Requests the timing again soon.
    func hurry() {
        timingDue = min(timingDue, .now() + .milliseconds(20))
    }

    /// Passes the samples that have arrived to `body`, until it returns false; that call's samples are passed again.
    func read(_ body: (UnsafeBufferPointer<Float>) -> Bool) {
        guard isReady else { return }
        while pa_stream_readable_size(stream) > 0 {
            var data: UnsafeRawPointer?
            var byteCount = 0
            guard pa_stream_peek(stream, &data, &byteCount) == 0, byteCount > 0 else { return }
            let count = byteCount / MemoryLayout<Float>.size
            if let data {
                guard body(UnsafeBufferPointer(start: data.assumingMemoryBound(to: Float.self), count: count)) else {
                    return
                }
            } else {
                passHole(count, body)
            }
            guard pa_stream_drop(stream) == 0 else { return }
        }
    }

    /// Passes samples that the server has lost as silence, so that the count of samples goes on.
    private func passHole(_ count: Int, _ body: (UnsafeBufferPointer<Float>) -> Bool) {
        var left = count
        while left > 0 {
            let piece = min(left, Slot.frameCount * channelCount)
            // Silence isn't kept for later.
            _ = Self.silence.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.prefix(piece))) }
            left -= piece
        }
    }
}
