import ByteCoding
import CommandLine
import Dispatch
import MediaTypes
import OutputLife
import Pushing
import ScreenRelayKit
import Signalling
import Synchronization
import Threading

/// The pushes of a running `share` or `host`, and the news of them.
final class Pushes: Sendable {
    /// How long all of them together may take to end.
    private static let patience = 4.0
    /// At most this many may be added, including those that have ended.
    private static let most = 64

    private let host: ScreenRelayHost
    private let news: SharingNews
    /// Their numbers are one more than their places.
    private let pushes = Mutex<[Push]>([])
    /// The places of those whose end has been told.
    private let ended = Mutex<Set<Int>>([])
    /// Signalled for each of them.
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts the pushes of the command line. One that can't be started is a line in `log`, and sharing continues.
    init(_ option: PushOption, of host: ScreenRelayHost, _ news: SharingNews, log: EventLog) {
        self.host = host
        self.news = news
        for (address, settings) in option.pushes {
            do throws(OutputError) {
                _ = try add(address, settings)
            } catch {
                log.warning("the push to \(address): \(error)")
            }
        }
    }

    /// Starts a push; returns its number.
    private func add(_ address: PushAddress, _ settings: PushSettings) throws(OutputError) -> Int {
        do {
            let (push, number) = try pushes.withLock { pushes in
                let place = pushes.count
                guard place < Self.most else { throw OutputError("there are \(Self.most) already") }
                let push = try Push(host.firstTrack, to: address, settings: settings) { [weak self] in
                    self?.tell($0, of: address, place)
                }
                pushes.append(push)
                return (push, place + 1)
            }
            push.start()
            return number
        } catch let error as OutputError {
            throw error
        } catch {
            throw OutputError("\(error)")
        }
    }

    private func tell(_ event: PushEvent, of address: PushAddress, _ place: Int) {
        news.tell(event, of: address)
        let isOver: Bool
        switch event {
        case .changed(let state): isOver = state.isOver
        case .failed: isOver = true
        case .status, .weakNetwork: return
        }
        ended.withLock { ended in
            if isOver { ended.insert(place) } else { ended.remove(place) }
        }
        if isOver { hasEnded.signal() }
    }

    /// Carries out what a command says.
    func answer(_ order: ControlCommand.PushOrder) -> ControlAnswer {
        switch order {
        case .list: return .done(json)
        case .add(let url, let preset):
            do {
                let (address, settings) = try PushOption.read(url, preset: preset, place: "push add")
                let number = try add(address, settings)
                return .done("push \(number) to \(address)")
            } catch {
                return .refused("\(error)")
            }
        case .stop(let number): return change(number, "stopping") { $0.stop() }
        case .restart(let number): return change(number, "restarting") { $0.restart() }
        }
    }

    private func change(_ number: Int, _ words: String, _ body: (Push) -> Void) -> ControlAnswer {
        let push = pushes.withLock { $0.indices.contains(number - 1) ? $0[number - 1] : nil }
        guard let push else { return .refused("there is no push \(number); 'screenrelay push list' shows them") }
        body(push)
        return .done("\(words) push \(number) to \(push.address)")
    }

    private var json: String {
        let objects = pushes.withLock { $0 }.enumerated().map { index, push in
            JSONObject {
                $0.add("id", index + 1)
                $0.add("to", push.address.description)
                $0.add("state", push.state.rawValue)
                $0.add("reason", push.failure?.description)
                guard let status = push.status else { return }
                $0.add("picturesPerSecond", Int(status.rates.picturesPerSecond.rounded()))
                $0.add("bitsPerSecond", status.rates.bitRate.bitsPerSecond)
                $0.add("queueMilliseconds", status.queueAge.milliseconds)
                $0.add("queueBytes", status.queueByteCount)
                $0.add("sentPictures", status.sentPictures)
                $0.add("droppedPictures", status.droppedPictures)
            }
        }
        return JSONObject { $0.add("pushes", objects) }.text
    }

    /// Ends all of them, with what waits to be sent, and waits until that is told, but not longer than 4 s.
    func stop() {
        let all = pushes.withLock { $0 }
        for push in all { push.stop() }
        let deadline = DispatchTime.now() + Self.patience
        while ended.withLock({ $0.count }) < all.count, hasEnded.wait(timeout: deadline) == .success {}
    }
}

extension SharingNews {
    /// Reports what happens to a push. Any thread; doesn't block.
    func tell(_ event: PushEvent, of address: PushAddress) {
        switch event {
        case .changed(.connecting), .changed(.disconnecting), .status: break
        case .changed(let state): tellPush(address, state: state.rawValue, words: Self.words(state), reason: nil)
        case .failed(let failure):
            tellPush(address, state: OutputState.error.rawValue, words: "has failed", reason: failure.description)
        case .weakNetwork:
            tellPush(
                address, state: "weakNetwork",
                words: "leaves out pictures, because the network takes less than is sent", reason: nil)
        }
    }

    private static func words(_ state: OutputState) -> String {
        switch state {
        case .connected: "is connected"
        case .autoReconnecting: "has lost its connection, and tries again"
        case .disconnected: "has ended"
        case .unknown, .connecting, .disconnecting, .error: state.rawValue
        }
    }
}
