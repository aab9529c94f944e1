import CommandLine
import Dispatch
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import ScreenRelayKit
import Signalling
import Synchronization
import Threading

/// The pushes of a running `share` or `host`, and the news of them.
final class Pushes: Sendable {
    /// How long all pushes together may take to end.
    private static let timeout = Interval.seconds(4)
    /// The most pushes that are kept, including ended pushes.
    private static let maxCount = 64

    private let host: ScreenRelayHost
    private let news: SharingNews
    private let isOpenToNetwork: Bool
    private let pushes = Mutex<List>(List())
    /// Signalled for each push whose end has been reported.
    private let hasEnded = DispatchSemaphore(value: 0)

    private struct List {
        /// By their numbers, of which none is used twice.
        var added: [Int: Added] = [:]
        var last = 0
        /// The numbers of the pushes whose end has been reported.
        var ended: Set<Int> = []

        var all: [(number: Int, added: Added)] {
            added.sorted { $0.key < $1.key }.map { (number: $0.key, added: $0.value) }
        }
    }

    private struct Added {
        let push: Push
        let label: PushLabel
        /// The settings that the push was added with, of which a reload replaces the preset's values.
        let settings: PushSettings
    }

    /// Starts the pushes of the command line and the settings file. One that can't be started is a line in `log`, and
    /// sharing continues.
    init(_ option: PushOption, of host: ScreenRelayHost, _ news: SharingNews, log: EventLog) {
        self.host = host
        self.news = news
        isOpenToNetwork = option.isOpenToNetwork
        for (label, settings) in option.pushes {
            do throws(OutputSettingsError) {
                _ = try add(label, settings)
            } catch {
                log.warning("the push \(label): \(error)")
            }
        }
    }

    /// Starts a push; returns its number.
    private func add(_ label: PushLabel, _ settings: PushSettings) throws(OutputSettingsError) -> Int {
        // Its release acquires another lock, so it must not happen under this lock.
        var replaced: Added?
        defer { _ = replaced }
        let track = try track(of: label)
        do {
            let (push, number) = try pushes.withLock { pushes in
                // The oldest ended push makes room.
                if pushes.added.count >= Self.maxCount {
                    guard let old = pushes.ended.filter({ pushes.added[$0] != nil }).min() else {
                        throw OutputSettingsError("there are \(Self.maxCount) that run; stop one of them")
                    }
                    replaced = pushes.added.removeValue(forKey: old)
                    pushes.ended.remove(old)
                }
                let number = pushes.last + 1
                let push = try Push(track, to: label.target, settings: settings) { [weak self] in
                    self?.tell($0, of: label, number)
                }
                pushes.last = number
                pushes.added[number] = Added(push: push, label: label, settings: settings)
                return (push, number)
            }
            push.start()
            return number
        } catch let error as OutputSettingsError {
            throw error
        } catch {
            throw OutputSettingsError("\(error)")
        }
    }

    private func track(of label: PushLabel) throws(OutputSettingsError) -> FollowedTrack {
        guard let track = label.track else { return FollowedTrack(host.firstTrack) }
        let room = track.room ?? host.room
        guard host.roomNames.contains(room) else { throw OutputSettingsError("there is no room \(room)") }
        return host.followedTrack(track.name, in: room)
    }

    private func tell(_ event: PushEvent, of label: PushLabel, _ number: Int) {
        news.tell(event, of: label)
        guard case .changed(let state, _) = event else { return }
        pushes.withLock { pushes in
            if state.isOver { pushes.ended.insert(number) } else { pushes.ended.remove(number) }
        }
        if state.isOver { hasEnded.signal() }
    }

    /// Carries out a command.
    func answer(_ order: ControlCommand.PushOrder) -> ControlAnswer {
        switch order {
        case .list: return .document(document.json)
        case .add(let url, let preset):
            do {
                let (label, settings) = try PushOption.read(
                    url, preset: preset, isOpenToNetwork: isOpenToNetwork, place: "push add")
                let number = try add(label, settings)
                return .done("push \(number) \(label)", made: number)
            } catch {
                return Self.refusal(error)
            }
        case .stop(let number): return change(number, "stopping") { $0.push.stop() }
        case .restart(let number): return change(number, "restarting") { $0.push.restart() }
        case .reload(let number, let preset):
            return change(number, "reloading") { added in
                var settings = added.settings
                try PushOption.apply(preset, to: &settings, for: added.push.target)
                try added.push.reload(settings)
            }
        }
    }

    private func change(_ number: Int, _ text: String, _ body: (Added) throws -> Void) -> ControlAnswer {
        let added = pushes.withLock { $0.added[number] }
        guard let added else {
            return .refused("there is no push \(number); 'screenrelay push list' shows them", .missing)
        }
        do {
            try body(added)
        } catch {
            return Self.refusal(error)
        }
        return .done("\(text) push \(number) \(added.label)")
    }

    private static func refusal(_ error: any Error) -> ControlAnswer {
        .refused("\(error)", error is UsageError ? .invalid : .notNow)
    }

    /// What `status` reports: no push that was stopped, and those that aren't connected first.
    var documents: [PushesDocument.Push] {
        let all = pushes.withLock { $0.all }
        let others = all.filter { $0.added.push.state != .connected && $0.added.push.state != .disconnected }
        let connected = all.filter { $0.added.push.state == .connected }
        return (others + connected).prefix(StatusDocument.serverLimit).map { number, added in
            PushesDocument.Push(number, added.label, added.push.state, added.push.failure?.description).shortened
        }
    }

    /// All of them, with their rates.
    private var document: PushesDocument {
        let all = pushes.withLock { $0.all }
        return PushesDocument(
            pushes: all.map { number, added in
                let push = added.push
                var document = PushesDocument.Push(number, added.label, push.state, push.failure?.description)
                if let status = push.status { document.add(status) }
                return document
            })
    }

    /// Sends the queues of all pushes, ends the pushes, and waits until the ends are reported, but not longer than 4 s.
    func stop() {
        let all = pushes.withLock { $0.added }
        for added in all.values { added.push.stop() }
        let deadline = DispatchTime.now() + Self.timeout.seconds
        while !pushes.withLock({ $0.ended.isSuperset(of: all.keys) }), hasEnded.wait(timeout: deadline) == .success {}
    }
}

extension PushesDocument.Push {
    /// The most Unicode scalars of a URL and of a reason in a status: a character may have any number of them.
    private static let textLimit = 128

    init(_ number: Int, _ label: PushLabel, _ state: OutputState, _ reason: String?) {
        self.init(
            id: number, name: label.name, track: label.track?.description, to: label.target.description,
            state: state.rawValue, reason: reason)
    }

    /// The push for a status, which keeps within its limit.
    var shortened: PushesDocument.Push {
        var push = self
        push.to = Self.beginning(of: to)
        push.reason = reason.map(Self.beginning)
        return push
    }

    private static func beginning(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit)))
    }

    fileprivate mutating func add(_ status: PushStatus) {
        picturesPerSecond = Int(status.rates.picturesPerSecond.rounded())
        soundPerSecond = Int(status.rates.soundPerSecond.rounded())
        bitsPerSecond = status.rates.bitRate.bitsPerSecond
        queueMilliseconds = status.queueAge.milliseconds
        queueBytes = status.queueByteCount
        sentPictures = status.sentPictures
        droppedPictures = status.droppedPictures
        sentSound = status.sentSound
        droppedSound = status.droppedSound
    }
}

extension SharingNews {
    /// Reports an event of a push. Any thread; doesn't block.
    func tell(_ event: PushEvent, of label: PushLabel) {
        switch event {
        case .changed(.connecting, _), .changed(.disconnecting, _), .status: break
        case .changed(let state, let failure):
            tellPush(label, state: state.rawValue, text: Self.text(state), reason: failure?.description)
        case .weakNetwork:
            tellPush(
                label, state: "weakNetwork",
                text: "leaves out pictures, because the network takes less than is sent", reason: nil)
        }
    }

    private static func text(_ state: OutputState) -> String {
        switch state {
        case .waiting: "waits for its track"
        case .connected: "is connected"
        case .autoReconnecting: "tries again"
        case .disconnected: "has ended"
        case .error: "has failed"
        case .unknown, .connecting, .disconnecting: state.rawValue
        }
    }
}
