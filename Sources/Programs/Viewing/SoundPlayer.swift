import AudioCoding
import CLinux
import Glibc
import MediaTypes
import Processes

/// Decodes the received sound, and passes the samples to screenrelay-sound, the only program that is linked with
/// libpulse. For one thread, which never waits.
///
/// The pipe between them holds 40 ms. While it is full, because the device's clock is slower than the sender's, packets
/// are dropped, so that the delay doesn't grow.
final class SoundPlayer {
    /// F_SETPIPE_SZ (fcntl(2)), which Glibc does not name.
    private static let setPipeSize: Int32 = 1031
    private static let pipeByteCount: Int32 = 16 << 10

    private let child: ChildProcess
    private let decoder: OpusDecoder
    /// The writing end.
    private let pipe: Int32
    /// The part of a packet that the pipe had no room for.
    private var pending: ArraySlice<UInt8> = []

    /// Starts `program`, the path of screenrelay-sound. Throws if that isn't possible.
    init(_ program: String) throws(ViewEnd) {
        do throws(AudioCodingError) {
            decoder = try OpusDecoder(channelCount: 2)
        } catch {
            throw ViewEnd("\(error)")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw .noResources }
        defer { Glibc.close(ends[0]) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        _ = fcntl(ends[1], Self.setPipeSize, Self.pipeByteCount)
        var launch = Launch(program, ["--play"])
        launch.standardInput = .descriptor(ends[0])
        do throws(ProcessError) {
            child = try ChildProcess(launch)
        } catch {
            Glibc.close(ends[1])
            throw ViewEnd("\(error)")
        }
        pipe = ends[1]
    }

    deinit {
        Glibc.close(pipe)
        child.stop(within: .zero)
    }

    /// Plays an Opus frame. A frame that can't be decoded, or for which there is no room, is dropped. Does nothing if
    /// the other program has ended, which has printed the reason itself.
    func play(_ frame: CodedFrame) {
        guard let unit = frame.units.first, let samples = try? decoder.decode(frame.bytes[unit]), flush() else {
            return
        }
        pending = Array(UnsafeRawBufferPointer(samples))[...]
        flush()
    }

    /// Writes the pending bytes. Returns whether none is left.
    @discardableResult
    private func flush() -> Bool {
        while !pending.isEmpty {
            let count = pending.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            pending = pending.dropFirst(count)
        }
        return true
    }
}
