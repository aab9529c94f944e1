import CommandLine
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
        #expect(unit.contains("'screenrelay link' prints the link, which is not in the journal"))
    }

    @Test("isn't started again where the same would happen again")
    func lasting() {
        let lines = ServiceUnit.text(program: "/bin/true").split(separator: "\n")
        let codes = lines.first { $0.hasPrefix("RestartPreventExitStatus=") }?.split(separator: "=").last
        let lasting: [ExitCode] = [.usage, .badData, .windowGone, .cannotWrite, .permission]
        #expect(codes.map(String.init) == lasting.map { "\($0.rawValue)" }.joined(separator: " "))
    }

    @Test("has nothing that systemd complains of", .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
    func verify() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("screenrelay.service", Array(ServiceUnit.text(program: "/bin/true").utf8))
        var launch = Launch("/usr/bin/systemd-analyze", ["verify", "--user", "--man=no", path])
        launch.environment = ["XDG_RUNTIME_DIR": folder.path, "HOME": folder.path]
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        let (status, output, errors) = try ChildProcess.run(launch, within: .seconds(20))
        #expect(status == .exited(0) && output.isEmpty && errors.isEmpty, "\(output)\(errors)")
    }
}
