import MediaTypes
import TestSupport
import Testing
import Threading

/// What `count` hosts get that start at once, each on a thread of its own.
func atOnce(_ count: Int, _ get: @escaping @Sendable () -> String) throws -> [String] {
    let results = try (0..<count).map { _ in try #require(OneShot<String>()) }
    for result in results {
        let thread = NamedThread("host") { result.give(get()) }
        try #require(thread != nil)
    }
    let deadline = now() + .seconds(20)
    return results.compactMap { $0.wait(until: deadline) }
}
