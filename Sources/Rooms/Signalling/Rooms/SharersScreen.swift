import MediaTypes
import Rooms

/// A limit of what the viewers of one track, all together, have shown over the sharer's own screen: so many that point
/// at once load neither the link nor the capture.
///
/// Pure; the time is an argument.
struct SharersScreen {
    /// How many messages about dots and lines are passed on. The end of a dot doesn't count.
    static let perSecond = MessageAllowance(perSecond: 1000, burst: .milliseconds(200))

    private var allowance = Self.perSecond
    /// The members whose dots are shown, as far as this knows.
    private var shown: Set<MemberID> = []
    /// The members of whose lines a part hasn't been passed on.
    private var interrupted: Set<MemberID> = []

    /// Whether there is nothing to remember about any member.
    var isEmpty: Bool { shown.isEmpty && interrupted.isEmpty }

    /// Returns the steps to pass on for a message with `path`; nil if all of it is dropped.
    mutating func show(_ member: MemberID, path: [PicturePlace?], at now: MonotonicTime) -> [PicturePlace?]? {
        guard allowance.take(at: now) else {
            if !path.isEmpty { interrupted.insert(member) }
            return nil
        }
        shown.insert(member)
        if path.isEmpty { return path }
        // What follows dropped steps doesn't continue the line that is shown.
        let isInterrupted = interrupted.remove(member) != nil
        return isInterrupted && path[0] != nil ? [nil] + path : path
    }

    /// Returns the steps to pass on for the end of the member's dot, none; nil if no dot is shown. So there are no more
    /// ends than dots, and none of them is dropped.
    mutating func end(_ member: MemberID) -> [PicturePlace?]? {
        shown.remove(member) == nil ? nil : []
    }

    /// Forgets a member that has left the room.
    mutating func forget(_ member: MemberID) {
        shown.remove(member)
        interrupted.remove(member)
    }
}
