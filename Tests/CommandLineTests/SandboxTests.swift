import CConfinement
import CLinux
import Glibc
import LinkTransport
import TestSupport
import Testing
import Threading

@testable import CommandLine

/// Rights are given up on threads that end with the test. That the programs give up theirs on all threads is for
/// `CaptureSandboxTests` to see.
@Suite("A confined capture")
struct SandboxTests {
    /// Enters the sandbox on a thread of its own, and returns what `body` returns there.
    private func inside<Value: Sendable>(
        _ sandbox: Sandbox, _ body: @escaping @Sendable (Sandbox.Outcome) -> Value
    ) throws -> Value {
        let result = try #require(OneShot<Value>())
        let thread = NamedThread("confined") { result.give(body(sandbox.enter(forAllThreads: false))) }
        try #require(thread).join()
        return try #require(result.given)
    }

    @Test("starts no program, reaches no other process, and changes no file by its name")
    func calls() throws {
        #expect(startProgram() == 0)
        let folder = try TemporaryFolder()
        let file = try folder.write("file", [])
        let codes = try inside(Sandbox(for: .descriptor(3))) { outcome in
            [
                "seccomp": outcome.seccompError,
                "a program": startProgram(),
                "a signal": code(kill(getppid(), 0)),
                "a signal by a socket": code(fcntl(-1, F_SETOWN, getppid())),
                // There is no process -1.
                "another's limits": code(shim_limit_address_space(-1, 0)),
                "a file's mode": code(chmod(file, 0o644)),
                "a file's size": code(truncate(file, 1)),
                "accepting": code(accept(-1, nil, nil)),
            ]
        }
        #expect(
            codes == [
                "seccomp": 0, "a program": EPERM, "a signal": EPERM, "a signal by a socket": EPERM,
                "another's limits": EPERM, "a file's mode": EPERM, "a file's size": EPERM, "accepting": EPERM,
            ])
    }

    @Test("opens, makes and removes no files, if the kernel has Landlock, except those that it was left")
    func files() throws {
        let folder = try TemporaryFolder()
        let (read, listed) = (folder.file("read"), folder.file("listed"))
        for path in [read, listed] { mkdir(path, 0o700) }
        for name in ["file", "other", "read/file", "listed/file"] { try folder.write(name, []) }
        var sandbox = Sandbox(for: .descriptor(3))
        sandbox.readable = [read, folder.file("file"), folder.file("missing")]
        sandbox.listable = [listed]
        let version = shim_landlock_version()
        let refusal = version > 0 ? EACCES : 0
        let codes = try inside(sandbox) { outcome in
            [
                "version": outcome.landlockVersion,
                "reading a file": opening(folder.file("file"), O_RDONLY),
                "reading in a folder": opening(read + "/file", O_RDONLY),
                "listing a folder": opening(listed, O_RDONLY | O_DIRECTORY),
                "making a folder": code(mkdir(listed + "/new", 0o700)),
                "reading another file": opening(folder.file("other"), O_RDONLY),
                "reading what may be listed": opening(listed + "/file", O_RDONLY),
                "listing another folder": opening(folder.path, O_RDONLY | O_DIRECTORY),
                "writing a file": opening(folder.file("file"), O_WRONLY),
                "a new file": opening(read + "/new", O_WRONLY | O_CREAT),
                "a new folder": code(mkdir(read + "/folder", 0o700)),
                "removing a file": code(unlink(read + "/file")),
            ]
        }
        #expect(
            codes == [
                "version": version, "reading a file": 0, "reading in a folder": 0, "listing a folder": 0,
                "making a folder": 0, "reading another file": refusal, "reading what may be listed": refusal,
                "listing another folder": refusal, "writing a file": refusal, "a new file": refusal,
                "a new folder": refusal, "removing a file": refusal,
            ])
    }

    @Test(
        "may read a folder because of resolv.conf only where another program replaces that file",
        arguments: [
            ("/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve"), ("/run/resolv.conf", "/run/resolv.conf"),
            ("/home/ann/resolv.conf", "/home/ann/resolv.conf"), ("/etc/resolv.conf", "/etc/resolv.conf"),
        ])
    func nameServers(file: String, place: String) {
        #expect(Sandbox.lastingPlace(of: file) == place)
    }

    @Test("reports what applies", arguments: [0, 7] as [Int32])
    func report(version: Int32) {
        let outcome = Sandbox.Outcome(seccompError: 0, landlockVersion: version, hasOlderThreads: false)
        let files = version > 0 ? "by Landlock 7" : "not (no Landlock)"
        #expect("\(outcome)" == "system calls by seccomp, files \(files)")
        #expect(outcome.level == .debug)
        let failed = Sandbox.Outcome(seccompError: EINVAL, landlockVersion: 7, hasOlderThreads: true)
        #expect("\(failed)" == "system calls not (Invalid argument), files by Landlock 7 except on older threads")
        #expect(failed.level == .warning)
        let partial = Sandbox.Outcome(
            seccompError: 0, landlockVersion: 0, landlockError: EINVAL, hasOlderThreads: false)
        #expect("\(partial)" == "system calls by seccomp, files not (Landlock: Invalid argument)")
        #expect(partial.level == .debug)
    }

    @Test("starts threads and signals them")
    func threads() throws {
        let worked = try inside(Sandbox(for: .descriptor(3))) { _ in
            let flag = Flag()
            let thread = NamedThread("another") { flag.set() }
            thread?.join()
            return flag.isSet && pthread_kill(pthread_self(), 0) == 0
        }
        #expect(worked)
    }

    @Test(
        "opens the sockets by which its host is reached again, and no others",
        arguments: [
            ("fd:3", []), ("unix:/nowhere/s.sock", [AF_UNIX]),
            ("tcp:192.0.2.1:7300", [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]),
            ("tls:host.example:7300", [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]),
        ] as [(String, [Int32])])
    func sockets(address: String, allowed: [Int32]) throws {
        // The last one is AF_ALG, the kernel's ciphers.
        let families = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 38]
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let (codes, pairCode) = try inside(Sandbox(for: LinkAddress(parsing: address))) { _ -> ([Int32], Int32) in
            let codes = families.map { family in
                let descriptor = socket(family, type, 0)
                defer { close(descriptor) }
                return code(descriptor)
            }
            // A datagram from one of a pair may go to any Unix socket.
            var pair: [Int32] = [-1, -1]
            let pairCode = code(socketpair(AF_UNIX, type, 0, &pair))
            for descriptor in pair { close(descriptor) }
            return (codes, pairCode)
        }
        #expect(pairCode == (allowed.contains(AF_UNIX) ? 0 : EPERM))
        // A machine may have no IPv6.
        for (family, code) in zip(families, codes) { #expect((code == EPERM) != allowed.contains(family), "\(family)") }
    }
}

/// The errno with which a call failed; 0 if it didn't.
private func code(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }

/// The errno with which a file couldn't be opened; 0 if it could.
private func opening(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    return code(descriptor)
}

/// The errno with which a program couldn't be started; 0 if it could.
private func startProgram() -> Int32 {
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    defer { free(arguments[0]) }
    var process = pid_t()
    let code = posix_spawn(&process, "/bin/true", nil, nil, &arguments, &environment)
    if code == 0 { waitpid(process, nil, 0) }
    return code
}
