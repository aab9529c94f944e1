// fuzz TARGET [LIBFUZZER-ARGUMENT...]   fuzzes one target
// fuzz --list                           prints the names of the targets
// fuzz --seeds TARGET FOLDER            writes the first inputs, and the dictionary FOLDER.words
// `Tools/fuzz` calls it in the root of the repository.
import CLibFuzzer
import Foundation

/// Runs the current target on an input. It is a global variable because libFuzzer's callback has no context.
nonisolated(unsafe) var runTarget: ([UInt8]) -> Void = { _ in }

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(message)\n".utf8))
    exit(64)
}

func target(named name: String?) -> FuzzTarget {
    guard let name, let found = FuzzTarget.all.first(where: { $0.name == name }) else {
        fail("there is no target '\(name ?? "")'; see --list")
    }
    return found
}

func fuzz(_ target: FuzzTarget) -> Never {
    runTarget = target.run
    // libFuzzer gets only its own arguments: this program's name, then what follows the target's name.
    let own = [CommandLine.arguments[0], "-max_len=\(target.maxInput)"] + CommandLine.arguments.dropFirst(2)
    var pointers: [UnsafeMutablePointer<CChar>?] = own.map { strdup($0) } + [nil]
    let status = pointers.withUnsafeMutableBufferPointer { buffer in
        var count = Int32(own.count)
        var arguments = buffer.baseAddress
        return LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            runTarget([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
    }
    exit(status)
}

switch CommandLine.arguments.dropFirst().first {
case "--list": for target in FuzzTarget.all { print(target.name) }
case "--seeds":
    guard CommandLine.arguments.count == 4 else { fail("write: fuzz --seeds TARGET FOLDER") }
    do {
        try Seeds.write(of: target(named: CommandLine.arguments[2]), to: CommandLine.arguments[3])
    } catch {
        fail("\(error)")
    }
case let name: fuzz(target(named: name))
}
