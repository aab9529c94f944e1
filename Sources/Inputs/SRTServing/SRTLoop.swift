import Clocks
import MediaTypes
import Pulling
import ScreenRelayKit
import Threading

/// The server's thread: waits for callers that have been admitted, each of which then has a thread of its own.
final class SRTLoop {
    private let served: ServedPublishers
    private let access: ViewerAccess
    private let listener: SRTListener
    private let isStopped: Flag
    private let limits: PublisherLimits
    private let lines: LogRateLimiter

    init(
        _ host: ScreenRelayHost, _ served: ServedPublishers, _ listener: SRTListener, _ isStopped: Flag,
        _ limits: PublisherLimits, _ lines: LogRateLimiter
    ) {
        self.served = served
        self.listener = listener
        self.isStopped = isStopped
        self.limits = limits
        self.lines = lines
        access = ViewerAccess(of: host)
    }

    func run() {
        while !isStopped.isSet {
            listener.wait(until: served.deadline)
            while let caller = listener.accept() { start(caller) }
            served.look(under: access, now: .now())
        }
        served.endAll(because: "the host is ending")
        listener.close()
    }

    /// Starts to publish what a caller sends.
    private func start(_ caller: SRTCaller) {
        let log = lines(of: caller.address)
        let publisher: ServedPublisher
        do throws(SRTRefusal) {
            publisher = try claim(for: caller)
        } catch {
            log.info("srt: \(caller.address) was disconnected: \(error)")
            return caller.close()
        }
        guard let source = Pull.Shared() else {
            caller.close()
            publisher.giveUp()
            return lines.own.error("srt: no descriptor is left for a publisher")
        }
        let run = Sent(SRTPublisherRun(caller, publisher, limits, source, log))
        let isStarted = served.start(publisher) { run.value.run() }
        if !isStarted {
            caller.close()
            lines.own.error("srt: no thread is left for a publisher")
        }
    }

    /// Claims the track for a caller. The gate has admitted the caller, but another one may have arrived meanwhile.
    private func claim(for caller: SRTCaller) throws(SRTRefusal) -> ServedPublisher {
        let place = try StreamID.place(in: caller.streamID)
        if let refusal = served.refusal(of: caller.address, to: place, under: access) { throw SRTRefusal(refusal) }
        do throws(PublisherRefusal) {
            // The publisher's thread looks ten times per second whether it has to end.
            return try served.claim(place, for: caller.address) {}
        } catch {
            throw SRTRefusal(error)
        }
    }
}
