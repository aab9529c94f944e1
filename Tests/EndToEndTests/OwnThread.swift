import Dispatch
import Testing

/// Runs each test of a suite on a thread of its own. Tests that wait for other processes would else keep the few threads
/// that Swift has, one for each processor, from all other tests.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await body() }
    }
}

/// Runs a task's jobs on a queue of its own, for which the system starts a thread if none is free.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
