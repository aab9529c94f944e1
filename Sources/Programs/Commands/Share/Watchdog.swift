import Clocks
import CommandLine
import Glibc
import MediaTypes
import ScreenRelayKit
import Threading

/// Tells the service manager's watchdog that a host works, as long as its signalling thread answers. It has a thread of
/// its own.
final class Watchdog: Sendable {
    private let wake: EventFD
    private let isStopped: Flag
    private let thread: NamedThread

    /// Starts to tell it. Nil if the manager has no watchdog, or if no thread or descriptor is left: the manager will
    /// then end the host, so `log` says why.
    static func start(_ manager: ServiceManager, of host: ScreenRelayHost, log: EventLog) -> Watchdog? {
        guard let interval = manager.watchdogInterval else { return nil }
        let watchdog = Watchdog(manager, every: interval, of: host)
        if watchdog == nil {
            log.error("no thread or descriptor is left to answer the service manager's watchdog, which ends this host")
        }
        return watchdog
    }

    /// Nil if no thread or descriptor is left.
    private init?(_ manager: ServiceManager, every interval: Interval, of host: ScreenRelayHost) {
        guard let wake = EventFD(), let answered = EventFD() else { return nil }
        let isStopped = Flag()
        let thread = NamedThread("watchdog", blocksSignals: true) {
            while !isStopped.isSet {
                let next = MonotonicTime.now() + interval
                host.ping { answered.signal() }
                var entries = [pollfd(wake.descriptor), pollfd(answered.descriptor)]
                waitForEvents(&entries, until: next)
                if entries[1].isReady {
                    answered.consume()
                    manager.tell(.alive)
                }
                wake.wait(until: next)
            }
        }
        guard let thread else { return nil }
        self.wake = wake
        self.isStopped = isStopped
        self.thread = thread
    }

    /// Ends the thread. Idempotent.
    func stop() {
        isStopped.set()
        wake.signal()
        thread.join()
    }
}
