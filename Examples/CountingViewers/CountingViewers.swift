// A bot that says how many people watch a running host, each time that it changes.
//
//     screenrelay share                              # in another terminal
//     swift run counting-viewers [SCREENRELAY [--pid N]]
//
// SCREENRELAY is the program's path, where it isn't on PATH; --pid chooses among several hosts. It asks
// `screenrelay rooms --json` once a second. A program elsewhere asks `GET /api/rooms` for the same document
// (Protocol/openapi.yaml).

import Foundation
import Signalling

@main
enum CountingViewers {
    static func main() {
        do {
            try countViewers()
        } catch {
            say("counting-viewers: \(error)")
            exit(65)
        }
    }

    private static func countViewers() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let program = arguments.first ?? "screenrelay"
        var last: [String: Int] = [:]
        while true {
            let document = try RoomsDocument(json: output(of: program, ["rooms", "--json"] + arguments.dropFirst()))
            for room in document.rooms {
                let count = room.members.count { $0.kind != "publisher" }
                if last[room.name] != count { say("\(room.name): \(count) viewer\(count == 1 ? "" : "s")") }
                last[room.name] = count
            }
            Thread.sleep(forTimeInterval: 1)
        }
    }

    /// Runs a program and returns what it writes; ends this one as it ended if it failed.
    private static func output(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { exit(process.terminationStatus) }
        return String(decoding: data, as: UTF8.self)
    }

    /// Unlike `print`, also into a pipe at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
