import Dispatch
import Testing

/// Runs a suite on threads of its own. Its tests wait for other processes most of the time; on Swift's threads, of
/// which there is one for each processor, each of them would wait for its turn behind the tests of all other suites,
/// and then keep one of those threads from them.
struct OwnThreads: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await body() }
    }
}

/// Runs jobs on a queue that starts threads as they are needed, so that a time limit counts while a test waits.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "end to end", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
