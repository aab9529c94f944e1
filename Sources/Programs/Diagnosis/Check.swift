import Clocks
public import MediaTypes
import Threading

/// Something to check, which may take a while.
public struct Check: Sendable {
    /// What is checked, in words that follow "the check of".
    let subject: String
    /// Checks it. Called once, on a thread of its own, which it may block.
    let run: @Sendable () -> [Finding]

    /// A check of `subject`.
    public init(of subject: String, _ run: @escaping @Sendable () -> [Finding]) {
        self.subject = subject
        self.run = run
    }

    /// Runs `checks` side by side, and returns their findings in the order of the checks. One that takes longer than
    /// `limit` is a finding itself, and its thread goes on.
    public static func run(_ checks: [Check], within limit: Interval) -> [Finding] {
        let deadline = MonotonicTime.now() + limit
        let results = checks.map { check -> OneShot<[Finding]>? in
            guard let result = OneShot<[Finding]>() else { return nil }
            let thread = NamedThread("check") { result.give(check.run()) }
            return thread == nil ? nil : result
        }
        return zip(checks, results).flatMap { check, result in
            // Without a thread or a descriptor for it, check here.
            guard let result else { return check.run() }
            return result.wait(until: deadline)
                ?? [
                    Finding(
                        "unfinished", "the check of \(check.subject) didn't end within \(limit.seconds) s",
                        todo: "run it again, and see what this machine is busy with")
                ]
        }
    }
}

extension Interval {
    fileprivate var seconds: Int64 { nanoseconds / 1_000_000_000 }
}
