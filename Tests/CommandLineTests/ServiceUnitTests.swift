import CommandLine
import Foundation
import Glibc
import Processes
import TestSupport
import Testing

@Suite("The systemd unit")
struct ServiceUnitTests {
    @Test("starts the program where it is, whatever its path is called")
    func path() {
        let unit = ServiceUnit.text(program: "/opt/a \"b\" 5% $x\\y/screenrelay")
        #expect(unit.contains("ExecStart=\"/opt/a \\\"b\\\" 5%% $$x\\\\y/screenrelay\" share --no-qr\n"))
    }

    @Test("has no link on its command line, and says where it is")
    func link() {
        let unit = ServiceUnit.text(program: "/bin/true")
        #expect(unit.contains("'screenrelay link' prints the invite link, which is not in the journal"))
    }

    @Test("lets the captures give up their rights")
    func sandboxes() {
        let lines = ServiceUnit.text(program: "/bin/true").split(separator: "\n")
        let last = lines.last { $0.hasPrefix("SystemCallFilter=") }
        #expect(
            last == "SystemCallFilter=seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self")
    }

    @Test("lets threads lower their priority, as the packaged host's does")
    func priorities() throws {
        let packaged = try fileBytes(packageRoot + "/packaging/screenrelay-host.service")
        for unit in [ServiceUnit.text(program: "/bin/true"), String(decoding: packaged, as: UTF8.self)] {
            let lines = unit.split(separator: "\n")
            let refusal = try #require(lines.firstIndex { $0.hasPrefix("SystemCallFilter=~@privileged @resources") })
            // What a later line allows is allowed.
            #expect(lines[refusal...].contains("SystemCallFilter=setpriority"))
        }
    }

    @Test("isn't started again where the same would happen again")
    func lasting() {
        let lines = ServiceUnit.text(program: "/bin/true").split(separator: "\n")
        let codes = lines.first { $0.hasPrefix("RestartPreventExitStatus=") }?.split(separator: "=").last
        let lasting: [ExitCode] = [.usage, .badData, .windowGone, .cannotWrite, .declined, .permission]
        #expect(codes.map(String.init) == lasting.map { "\($0.rawValue)" }.joined(separator: " "))
    }

    @Test("has nothing that systemd complains of", .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
    func verify() throws {
        try verify(["screenrelay.service": ServiceUnit.text(program: "/bin/true")])
    }

    @Test(
        "for host and capture apart, in operating.md, there is nothing that systemd complains of",
        .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
    func documented() throws {
        let text = String(decoding: try fileBytes(packageRoot + "/Documentation/operating.md"), as: UTF8.self)
        var units: [String: String] = [:]
        for block in text.components(separatedBy: "```ini\n# ").dropFirst() {
            let name = block.prefix { !",\n".contains($0) }
            let unit = block.components(separatedBy: "```")[0].drop { $0 != "\n" }
            // The program must exist.
            units[String(name)] = unit.replacingOccurrences(of: "ExecStart=screenrelay", with: "ExecStart=true")
        }
        #expect(units.keys.sorted() == ["screenrelay-capture.service", "screenrelay-host.service"])
        try verify(units)
    }

    @Test(
        "the packaged units have nothing that systemd complains of, and leave a host hardly more than the network",
        .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
    func packaged() throws {
        var units: [String: String] = [:]
        for name in ["host.service", "host.socket", "host-link.socket", "host-rtsp.socket"] {
            let text = String(decoding: try fileBytes(packageRoot + "/packaging/screenrelay-" + name), as: UTF8.self)
            // The program must exist.
            units["screenrelay-" + name] = text.replacingOccurrences(
                of: "ExecStart=screenrelay", with: "ExecStart=true")
        }
        try verify(units, ["verify", "--recursive-errors=no", "--man=no"])
        let service = units.filter { $0.key.hasSuffix(".service") }
        // 1.5 of 10. What remains is the network, which is what a host is for.
        try verify(service, ["security", "--offline=yes", "--threshold=15", "--no-pager"], isSilent: false)
    }

    /// Expects that systemd complains of none of these units, by their names.
    private func verify(
        _ units: [String: String], _ command: [String] = ["verify", "--user", "--man=no"], isSilent: Bool = true
    ) throws {
        let folder = try TemporaryFolder()
        let paths = try units.map { try folder.write($0.key, Array($0.value.utf8)) }
        var launch = Launch("/usr/bin/systemd-analyze", command + paths)
        launch.environment = ["XDG_RUNTIME_DIR": folder.path, "HOME": folder.path]
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        let (status, output, errors) = try ChildProcess.run(launch, within: .seconds(90))
        #expect(status == .exited(0) && (!isSilent || output.isEmpty && errors.isEmpty), "\(output)\(errors)")
    }
}
