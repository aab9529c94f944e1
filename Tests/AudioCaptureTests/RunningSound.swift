import AudioCapture
import CLinux
import Glibc
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Threading

/// A capture of sound on a thread of its own.
final class RunningSound: Sendable {
    private let stopDescriptor: Int32
    private let log = Mutex<[String]>([])
    private let result = Mutex<Result<AudioEnd, AudioError>?>(nil)
    private let thread = Mutex<NamedThread?>(nil)

    /// Captures over a pair of sockets; returns the host at its other end, too.
    static func pair(
        _ server: String, _ sources: [AudioConfiguration.Source], channelCount: Int = 2,
        bitRate: BitRate = BitRate(bitsPerSecond: 128_000)
    ) throws -> (sound: RunningSound, host: ListeningHost) {
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        var configuration = AudioConfiguration(
            link: .descriptor(descriptor), sources: sources, channelCount: channelCount)
        configuration.bitRate = bitRate
        configuration.server = server
        return (RunningSound(configuration), ListeningHost(pair.connection))
    }

    private init(_ configuration: AudioConfiguration) {
        signal(SIGPIPE, SIG_IGN)
        stopDescriptor = eventfd(0, Int32(EFD_CLOEXEC))
        let started = NamedThread("sound") { [self] in
            let log = EventLog { _, line in self.log.withLock { $0.append(line) } }
            let end = Result { () throws(AudioError) in
                try AudioAgent(configuration, stopDescriptor: stopDescriptor, log: log).run()
            }
            result.withLock { $0 = end }
        }
        thread.withLock { $0 = started }
    }

    /// How it has ended; nil while it runs.
    var end: Result<AudioEnd, AudioError>? { result.withLock { $0 } }
    /// What it has logged.
    var lines: [String] { log.withLock { $0 } }

    /// Tells it to stop, and waits until it has.
    func stop() {
        eventfd_write(stopDescriptor, 1)
        thread.withLock { $0.take() }?.join(until: now() + .seconds(10))
    }
}
