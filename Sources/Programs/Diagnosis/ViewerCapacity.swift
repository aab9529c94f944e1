import ByteCoding
import CLinux
import ScreenRelayKit
import WebRTC

/// How many viewers one host on a machine can serve, and which arrangement serves more, by the figures of
/// `Documentation/scale.md`.
public struct ViewerCapacity: Sendable {
    /// The processors that the host may use, by the affinity and the quotas of this process.
    var processors = min(Int(shim_processor_count()), ProcessorQuota.ofThisProcess ?? .max)
    /// The files that the host may have open.
    var files = OpenFiles.limit.highest

    /// The viewers of 1920x1080 that one media thread on a core of its own can serve.
    static let perCore = (text: 520, motion: 270)
    /// The viewers of scrolling text that ten WebRTC servers can serve.
    static let atTenServers = 8500

    /// The capacity of this machine.
    public static var ofThisMachine: ViewerCapacity { ViewerCapacity() }

    /// The viewers of scrolling text.
    var ofText: Int { viewers(perCore: Self.perCore.text) }
    /// The viewers of full-screen motion.
    var inMotion: Int { viewers(perCore: Self.perCore.motion) }
    /// The viewers that the limit of open files allows.
    private var sessions: Int { Int(OpenFiles.allowedViewers(limit: files)) }

    private func viewers(perCore: Int) -> Int {
        // Capture and the host's other threads need up to two cores. Three media threads carry 2.7 times as much as
        // one, which is 90 % each; more weren't measured.
        let cores = min(max(processors - 2, 1), MediaServerConfiguration.threadLimit)
        return min(cores == 1 ? perCore : perCore * cores * 9 / 10, sessions)
    }

    /// What serves this number of viewers of scrolling text: one arrangement, or one for many rooms and one for a
    /// single room.
    func arrangements(for viewers: Int) -> [ViewerArrangement] {
        if viewers <= min(ofText, Self.perCore.text) { return [.oneHost] }
        if viewers <= ofText { return [.severalCores] }
        return viewers <= Self.atTenServers ? [.severalHosts, .tree] : [.caches]
    }

    /// The lines for people.
    public var lines: [String] {
        // With one processor, capture needs a part of the media thread's core.
        let (about, count) = processors > 1 ? ("about", "\(processors) processors") : ("fewer than", "1 processor")
        let own =
            "one host here can serve \(about) \(ofText) of scrolling text, or \(inMotion) of full-screen motion "
            + "(\(count), open files for \(sessions); Documentation/scale.md)"
        let others = [10, 1000, 100_000].map { number in
            let choices = arrangements(for: number).map { "\($0.rawValue) (per viewer: \($0.cost))" }
            return "for \(number), \(choices.joined(separator: "; "))"
        }
        return ([own] + others).map { "Viewers: " + $0 }
    }

    /// The object for programs.
    var json: JSONObject {
        JSONObject { object in
            object.add("processors", processors)
            object.add("sessions", sessions)
            object.add("viewersOfText", ofText)
            object.add("viewersInMotion", inMotion)
        }
    }
}

/// What serves viewers; the raw value is its name for people.
enum ViewerArrangement: String, CaseIterable {
    case oneHost = "one host"
    case severalCores = "one host with media threads on several cores"
    case severalHosts = "in many rooms, several hosts under one name with haproxy"
    case tree = "in one room, a tree of WebRTC servers (Janus) that the share is pushed to"
    case caches = "HLS through caches"

    /// The cost of a viewer of scrolling text, as `Documentation/scale.md` has it.
    var cost: String {
        switch self {
        case .oneHost, .severalCores, .severalHosts: "1.32 ms of CPU time per second, 255 KiB, 1.15 Mbit/s"
        case .tree: "4.1 ms of CPU time per second at a server"
        case .caches: "0.08 ms of CPU time per second at an edge"
        }
    }
}
