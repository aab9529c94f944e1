import CLinux
import Glibc

/// One call of posix_spawn: prepares the child's descriptors, and keeps our ends of its pipes.
struct Spawn {
    /// The started process, and our ends of its pipes.
    struct Started {
        var processID: Int32
        var input: Int32?
        var output: CollectedOutput?
        var errorOutput: CollectedOutput?
    }

    /// The child's descriptor numbers, and our duplicates that become them. All duplicates have numbers above all of
    /// the child's, so that no dup2 in the child overwrites the source of another one.
    private var handedDown: [(childs: Int32, ours: Int32)] = []
    private let lowestDuplicate: Int32
    private var toClose: [Int32] = []
    private var input: Int32?
    private var pipes: [Int32: Int32] = [:]

    static func start(_ launch: Launch) throws(ProcessError) -> Started {
        if let number = launch.descriptors.keys.first(where: { $0 < 3 }) { throw .reservedDescriptor(number) }
        guard let path = ProgramLookup.path(of: launch.program) else { throw .notFound(program: launch.program) }
        let argumentList = [launch.program] + launch.arguments
        let environmentList = environment(of: launch)
        for text in argumentList + environmentList + [launch.workingFolder ?? ""] where text.utf8.contains(0) {
            throw .nulCharacter(text)
        }

        var spawn = Spawn(lowestDuplicate: max(2, launch.descriptors.keys.max() ?? 2) + 1)
        // Our duplicates of the child's descriptors are closed on every path out.
        defer { for descriptor in spawn.toClose { close(descriptor) } }
        let processID: Int32
        do throws(ProcessError) {
            try spawn.prepare(launch)
            processID = try spawn.run(path, argumentList, environmentList, launch)
        } catch {
            if let input = spawn.input { close(input) }
            for pipe in spawn.pipes.values { close(pipe) }
            throw error
        }
        var started = Started(processID: processID, input: spawn.input)
        do throws(ProcessError) {
            started.output = try spawn.collect(1, launch.standardOutput)
            started.errorOutput = try spawn.collect(2, launch.standardError)
        } catch {
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
            if let input = spawn.input { close(input) }
            for pipe in spawn.pipes.values { close(pipe) }
            throw error
        }
        return started
    }

    private init(lowestDuplicate: Int32) {
        self.lowestDuplicate = lowestDuplicate
    }

    private mutating func prepare(_ launch: Launch) throws(ProcessError) {
        switch launch.standardInput {
        case .null: try handDownNull(as: 0)
        case .inherit: try handDown(0, as: 0)
        case .descriptor(let descriptor): try handDown(descriptor, as: 0)
        case .pipe:
            let (reading, writing) = try makePipe()
            input = writing
            toClose.append(reading)
            try handDown(reading, as: 0)
        }
        for (number, output) in [(Int32(1), launch.standardOutput), (2, launch.standardError)] {
            switch output {
            case .null: try handDownNull(as: number)
            case .inherit: try handDown(number, as: number)
            case .descriptor(let descriptor): try handDown(descriptor, as: number)
            case .text, .lines:
                let (reading, writing) = try makePipe()
                pipes[number] = reading
                toClose.append(writing)
                try handDown(writing, as: number)
            }
        }
        for (number, descriptor) in launch.descriptors { try handDown(descriptor, as: number) }
    }

    private mutating func handDown(_ descriptor: Int32, as number: Int32) throws(ProcessError) {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, lowestDuplicate)
        if duplicate < 0 {
            // A standard stream that we were started without is /dev/null for the child.
            if errno == EBADF, number < 3, descriptor == number { return try handDownNull(as: number) }
            throw .noResources(what: "copy of descriptor \(descriptor)", errno: errno)
        }
        toClose.append(duplicate)
        handedDown.append((number, duplicate))
    }

    private mutating func handDownNull(as number: Int32) throws(ProcessError) {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw .noResources(what: "/dev/null", errno: errno) }
        toClose.append(null)
        try handDown(null, as: number)
    }

    private func makePipe() throws(ProcessError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw .noResources(what: "pipe", errno: errno) }
        return (ends[0], ends[1])
    }

    private mutating func collect(_ number: Int32, _ output: Launch.Output) throws(ProcessError) -> CollectedOutput? {
        guard let pipe = pipes.removeValue(forKey: number) else { return nil }
        switch output {
        case .lines(let limit, let receive): return try CollectedOutput(pipe, limit: limit, receive: receive)
        case .text(let limit): return try CollectedOutput(pipe, limit: limit, receive: nil)
        case .null, .inherit, .descriptor:
            close(pipe)
            return nil
        }
    }

    private func run(
        _ path: String, _ arguments: [String], _ environment: [String], _ launch: Launch
    ) throws(ProcessError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        try Self.check(posix_spawn_file_actions_init(&actions), launch)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in handedDown {
            try Self.check(posix_spawn_file_actions_adddup2(&actions, descriptor, number), launch)
        }
        let numbers = Set(handedDown.map(\.childs))
        for number in 0..<lowestDuplicate where !numbers.contains(number) {
            try Self.check(posix_spawn_file_actions_addclose(&actions, number), launch)
        }
        try Self.check(posix_spawn_file_actions_addclosefrom_np(&actions, lowestDuplicate), launch)
        if let folder = launch.workingFolder {
            try Self.check(posix_spawn_file_actions_addchdir_np(&actions, folder), launch)
        }

        var attributes = posix_spawnattr_t()
        try Self.check(posix_spawnattr_init(&attributes), launch)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        try Self.check(posix_spawnattr_setsigmask(&attributes, &signals), launch)
        sigfillset(&signals)
        try Self.check(posix_spawnattr_setsigdefault(&attributes, &signals), launch)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        if launch.leadsProcessGroup { flags |= Int32(POSIX_SPAWN_SETPGROUP) }
        try Self.check(posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags)), launch)

        var argumentList: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environmentList: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentList + environmentList { free(pointer) } }
        var processID: pid_t = 0
        // A relative path is resolved in our working directory, even if the child starts in another one.
        let code = posix_spawn(
            &processID, absolute(path), &actions, &attributes, &argumentList, &environmentList)
        guard code == 0 else { throw .notStarted(program: launch.program, errno: code) }
        return processID
    }

    /// Throws if an action or attribute could not be set (ENOMEM, or EBADF for a descriptor number above the system's
    /// limit). Without it the child would get the wrong descriptors.
    private static func check(_ code: Int32, _ launch: Launch) throws(ProcessError) {
        if code != 0 { throw .notStarted(program: launch.program, errno: code) }
    }

    private func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    private static func environment(of launch: Launch) -> [String] {
        let changes = launch.environment
        var result: [String] = []
        var variable = shim_environment()
        while let text = variable?.pointee {
            let entry = String(cString: text)
            let name = String(entry.prefix { $0 != "=" })
            if changes[name] == nil, launch.inheritedVariables?.contains(name) ?? true { result.append(entry) }
            variable = variable?.successor()
        }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value { result.append("\(name)=\(value)") }
        }
        return result
    }
}
