import ByteCoding

/// One thing that is wrong with this machine, or with the options of a share.
public struct Finding: Sendable, Equatable {
    /// Names the kind of fault for programs, as in `http-port` (`Protocol/control.md`).
    public let id: String
    /// The problem, with the observation; no full stop at the end.
    public let what: String
    /// The remedy, also without a full stop. May be empty if `what` contains it.
    public let todo: String

    /// A finding with these texts.
    public init(_ id: String, _ what: String, todo: String) {
        self.id = id
        self.what = what
        self.todo = todo
    }

    /// A finding from an error's line, whose part after the first semicolon is usually the remedy.
    public init(_ id: String, line: String) {
        let cut = line.firstRange(of: "; ")
        self.init(
            id, String(cut.map { line[..<$0.lowerBound] } ?? line[...]),
            todo: cut.map { String(line[$0.upperBound...]) } ?? "")
    }

    /// The line for people.
    public var line: String { todo.isEmpty ? what : "\(what); \(todo)" }

    /// The object for programs.
    fileprivate var json: JSONObject {
        JSONObject { object in
            object.add("id", id)
            object.add("what", what)
            object.add("todo", todo)
        }
    }
}

extension [Finding] {
    /// All findings, and how many viewers the machine can serve, as one line of JSON, without a line feed.
    public func json(with capacity: ViewerCapacity) -> String {
        JSONObject { object in
            object.add("findings", map(\.json))
            object.add("capacity", capacity.json)
        }.text
    }
}
