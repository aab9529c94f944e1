public import MediaSessions

/// A member of a room who sends a track from our page, as it is described to viewers.
public struct Presenter: Sendable, Equatable {
    /// The member's name; nil without one.
    public var name: String?

    /// Why the track of a presenter ends.
    public enum Ending: String, Sendable, CaseIterable {
        /// The presenter has pressed the page's button.
        case stopped
        /// The browser has ended the capture: by its own bar, or because the window or device is gone.
        case ended
        /// The page has been closed.
        case closed
        /// The page has ended without a request: the tab or the browser has crashed.
        case crashed
        /// No media arrive, although the page hasn't closed the session; or the page has lost its connection.
        case lost
        /// The sharer has removed the presenter.
        case removed
        /// Its turn has been ended by another, or handed over.
        case over

        /// The reason that a page gives in `X-Ending` when it ends its session; nil if a page can't give it.
        init?(header: String?) {
            guard let ending = header.flatMap({ Self(rawValue: $0) }), ![.crashed, .removed, .over].contains(ending)
            else { return nil }
            self = ending
        }
    }

    public init(name: String?) { self.name = name }

    /// What viewers are told when the track ends.
    public func text(of ending: Ending) -> String {
        let who = name ?? "the presenter"
        return switch ending {
        case .stopped: "\(who) has stopped sharing"
        case .ended: "\(who) has ended sharing in the browser"
        case .closed: "\(who) has closed the page"
        case .crashed: "the browser of \(who) has ended unexpectedly"
        case .lost: "the connection to \(who) was lost"
        case .removed: "\(who) was removed by the sharer"
        case .over: "the turn of \(who) is over"
        }
    }

    /// What viewers are told when the media layer has ended the session. A page that stops sharing says so before it
    /// closes the connection.
    public func text(ofSessionEnd end: SessionEnd) -> String {
        text(of: end == .byPeer ? .closed : .lost)
    }

    /// The tag of the presenter's track.
    public var tag: TrackTag {
        let data = JSONValue.object(["presenter": .string(name ?? "")])
        return (try? TrackTag(text: name, data: data)) ?? TrackTag()
    }
}
