import Clocks
import LockOrder
import MediaFiles
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Synchronization
import Threading
import TrackHub

/// What the push's thread waits for before it connects.
extension PushSender {
    /// Waits for what the stream's header tells of: the first picture, if pictures are sent, and whether there is
    /// sound. Nil at the end. A source that has sound and no pictures is sent as sound.
    mutating func waitForBeginning() -> (picture: TrackFrame?, hasSound: Bool)? {
        let (track, content) = (exchange.track, exchange.settings.content)
        if content == .sound {
            guard waitForSound(until: .distantFuture) else { return nil }
            return (picture: nil, hasSound: true)
        }
        var soundDue: MonotonicTime?
        while case .frame(let frame) = next() {
            guard frame.format.kind == .video else {
                // Sound before the first picture isn't sent.
                let now = MonotonicTime.now()
                let due = soundDue ?? now + PushSource.pictureTimeout
                soundDue = track.isHeardAlone ? due : nil
                guard now >= due, track.isHeardAlone else { continue }
                return (picture: nil, hasSound: true)
            }
            let timeout = isEarly ? PushSource.soundTimeout : .zero
            let hasSound = content == .both && waitForSound(until: MonotonicTime.now() + timeout)
            let lacksSound = content == .both && !hasSound
            exchange.progress.withLock { $0.lacksSound = lacksSound }
            return (picture: frame, hasSound: hasSound)
        }
        return nil
    }

    /// Waits for the track's sound; returns whether it has any.
    private func waitForSound(until deadline: MonotonicTime) -> Bool {
        while !exchange.track.hasSound {
            let now = MonotonicTime.now()
            if now >= deadline || exchange.connection.isAbandoned { return false }
            if exchange.inbox.withLock({ $0.isClosing }) { return false }
            // Nobody tells of a source that is silent.
            exchange.wake.wait(until: min(deadline, now + .milliseconds(100)))
        }
        return true
    }

    /// Where this attempt goes; nil once it has failed or is abandoned.
    func findAddress() -> (address: PushAddress, place: ResolvedAddress)? {
        let (settings, connection) = (exchange.settings, exchange.connection)
        do throws(OutputSettingsError) {
            let address = try exchange.target.find(connection)
            var place = try address.resolved(by: settings.resolve)
            if address.container == .flash { place.options["send_buffer_size"] = "\(settings.sendBuffer)" }
            if connection.isAbandoned { return nil }
            return (address, place)
        } catch {
            if !connection.isAbandoned { report(.failed(attempt: exchange.number, OutputError("\(error)"))) }
            return nil
        }
    }
}
