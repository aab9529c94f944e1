import CommandLine
import Pulling
import ScreenRelayKit
import Synchronization
import Threading

/// The sources that a host reads, which may change while it runs.
final class Sources: Sendable {
    private struct Reading {
        let source: SourceOption.Source
        let pull: Pull
    }

    private let host: ScreenRelayHost
    private let log: EventLog
    private let readings = Mutex<[Reading]>([])

    /// No sources yet.
    init(of host: ScreenRelayHost, log: EventLog) {
        self.host = host
        self.log = log
    }

    /// What the first track shows; nil if a capture is its source.
    var first: PullAddress? { readings.withLock { $0.first { $0.source.track == nil }?.source.address } }

    /// Begins to read all sources. A file that is of no use ends the host.
    func start(_ option: SourceOption, _ end: EndSignals) throws(HostError) {
        for source in option.sources {
            try read(source, option, into: nil) { end.end(with: Program.fail($0, .badData)) }
        }
    }

    /// Replaces the sources that differ from those of `option`. Tracks that keep a source stay, with their viewers.
    /// Failures are logged.
    func change(to option: SourceOption) {
        let ended = readings.withLock { readings -> [Reading] in
            let ended = readings.filter { !option.sources.contains($0.source) }
            readings.removeAll { !option.sources.contains($0.source) }
            return ended
        }
        for reading in ended { reading.pull.stop() }
        let freed = Set(ended.compactMap(\.source.track)).subtracting([host.firstTrack.name])
        for name in freed where !option.sources.contains(where: { $0.track == name }) {
            host.removeTrack(name, from: host.room)
        }
        let known = readings.withLock { $0.map(\.source) }
        for source in option.sources where !known.contains(source) {
            do throws(HostError) {
                let track = source.track.flatMap { freed.contains($0) ? host.track($0, in: host.room) : nil }
                try read(source, option, into: track) { [log] in log.error($0) }
            } catch {
                log.error("\(error)")
            }
        }
    }

    /// Ends all of them.
    func stop() {
        for reading in readings.withLock({ $0 }) { reading.pull.stop() }
    }

    /// - Parameter track: the track if the host has it already.
    private func read(
        _ source: SourceOption.Source, _ option: SourceOption, into track: HostedTrack?,
        onUselessFile: @escaping @Sendable (String) -> Void
    ) throws(HostError) {
        let target: HostedTrack
        if let track {
            target = track
        } else if let name = source.track, name != host.firstTrack.name {
            target = try host.addTrack(name, to: host.room)
        } else {
            target = host.firstTrack
        }
        let address = source.address
        do throws(PullError) {
            let isOfUse = Flag()
            var settings = Pull.Settings()
            settings.acceptsAnyCertificate = option.acceptsAnyCertificate
            let pull = try Pull(address, into: target, settings: settings, log: log) { event in
                switch event {
                case .connected: isOfUse.set()
                case .failed(let reason) where address.isFile && !isOfUse.isSet:
                    onUselessFile("--source \(address) \(reason)")
                case .ended, .failed: break
                }
            }
            readings.withLock { $0.append(Reading(source: source, pull: pull)) }
        } catch {
            // The next reload can then add the track again. The first one stays.
            host.removeTrack(target.name, from: host.room)
            throw .system("--source \(address): \(error)")
        }
    }
}
